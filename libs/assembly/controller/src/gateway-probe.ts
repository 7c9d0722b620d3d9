import type { AllocatingWorld } from '@kube-ovn/domains-control'
import {
  gatewayCandidates,
  gatewayStates,
  joinAddress,
  silentGateways,
} from '@kube-ovn/domains-control/topology'
import { nodes } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import type { DerivedTables, KubeEvent } from '@kube-ovn/reconcile'
import { sleep, type Clock } from '@kube-ovn/time'
import { askOnLink, type AskNode } from './ask-node.ts'
import { GatewayAnswers } from './gateway-answers.ts'

/** From one round of questions to the next. */
const roundMs = 500
/** Ready nodes that are asked beside gateways, to tell a gateway that is gone from a controller that is cut off. */
const witnessCount = 3

export interface GatewayProbeOptions {
  readonly derived: DerivedTables
  readonly world: Pick<AllocatingWorld, 'ipam' | 'nodes' | 'gatewayStates' | 'gatewayCandidates'>
  readonly record: (event: KubeEvent) => void
  readonly clock: Clock
  readonly log: Logger
  /** Default: by a connection, where the address is on a link of this host. */
  readonly ask?: AskNode | undefined
}

/**
 * Notices within about two seconds that a gateway node is gone, long before the cluster does.
 *
 * It asks while some Subnet has several gateways to choose from, at the addresses that traffic of pods would be led to.
 */
export class GatewayProbe implements Disposable {
  readonly #options: GatewayProbeOptions
  readonly #ask: AskNode
  readonly #over = new AbortController()
  readonly #answers = new GatewayAnswers()
  #silent: ReadonlySet<string> = new Set()
  #asked: readonly string[] | undefined
  #isAsking = false

  /** Before derived tables begin. */
  constructor(options: GatewayProbeOptions) {
    this.#options = options
    this.#ask = options.ask ?? askOnLink
    options.derived.follow(gatewayStates, () => this.#changed())
    options.derived.follow(gatewayCandidates, (changed) => {
      const { world } = this.#options
      for (const node of changed)
        if (world.gatewayCandidates.get(node)?.isHealthy !== true) this.#answers.forget(node)
      this.#changed()
    })
  }

  /** When derived tables have begun. */
  start(): void {
    this.#changed()
  }

  [Symbol.dispose](): void {
    this.#over.abort()
  }

  #changed(): void {
    this.#asked = undefined
    if (this.#isAsking || this.#nodes().length === 0) return
    this.#isAsking = true
    this.#rounds().catch((err: unknown) => {
      if (!this.#over.signal.aborted) this.#options.log.error('gateways are not asked any more', { err })
    })
  }

  async #rounds(): Promise<void> {
    while (this.#isAsking) {
      const asked = this.#nodes()
      const [answers] = await Promise.all([
        Promise.all(asked.map(async (node) => [node, await this.#isThere(node)] as const)),
        sleep(this.#options.clock, roundMs, this.#over.signal),
      ])
      this.#answers.round(new Map(answers))
      this.#tell(new Set(this.#answers.silent))
      // There may be some to ask since this round, of which nobody was asked, began.
      this.#isAsking = asked.length > 0 || this.#nodes().length > 0
    }
  }

  /** Gateways between which there is a choice, and some other nodes; none while there is no choice. */
  #nodes(): readonly string[] {
    this.#asked ??= this.#chosen()
    return this.#asked
  }

  #chosen(): readonly string[] {
    const { gatewayStates, gatewayCandidates } = this.#options.world
    const names = gatewayCandidates.keys('healthy', '')
    const gateways = new Set<string>()
    for (const { published } of gatewayStates.scan()) {
      const known = published?.gateways ?? []
      if (known.length > 1) for (const { node = '' } of known) gateways.add(node)
    }
    if (gateways.size === 0) return []
    const witnesses = names.filter((node) => !gateways.has(node)).slice(0, witnessCount)
    return [...names.filter((node) => gateways.has(node)), ...witnesses]
  }

  async #isThere(node: string): Promise<boolean> {
    const { world } = this.#options
    const addresses = families
      .map((family) => joinAddress(node, family, world))
      .filter((address) => address !== undefined)
    const isThere = (await Promise.all(addresses.map((address) => this.#ask(address)))).includes(true)
    if (isThere) this.#answers.answered(node)
    return isThere
  }

  #tell(silent: ReadonlySet<string>): void {
    const before = this.#silent
    this.#silent = silent
    for (const node of before) if (!silent.has(node)) this.#say(node, false)
    for (const node of silent) if (!before.has(node)) this.#say(node, true)
  }

  #say(node: string, isSilent: boolean): void {
    const { derived, world, record, log } = this.#options
    derived.put(silentGateways, node, isSilent ? true : undefined)
    log.info(isSilent ? 'gateway node does not answer' : 'gateway node answers again', { node })
    const uid = world.nodes.get(node)?.metadata.uid
    if (uid === undefined) return
    const regarding = { resource: nodes, name: node, uid }
    if (isSilent) {
      const message =
        'does not answer at its address in the join subnet, while others do: traffic of subnets leaves by others'
      record({ regarding, type: 'Warning', reason: 'GatewaySilent', message })
    } else {
      const message = 'answers again, and can be a gateway'
      record({ regarding, type: 'Normal', reason: 'GatewayAnswers', message })
    }
  }
}

const families = [4, 6] as const
