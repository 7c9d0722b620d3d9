import {
  InvalidFragmentError,
  nothingToDo,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { familyOf, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import type { Flow, FlowChange } from '@kube-ovn/ovs'
import { findInterface, type LocalOvs } from '../local-ovs.ts'
import type { OpenFlowBridges, PhysicalBridges } from './physical-bridges.ts'

/** What comes in by one port of a bridge for an address and port, and goes out by another one, to somebody else's MAC address. */
interface Lead {
  readonly address: string
  readonly protocol: 'tcp' | 'udp'
  readonly port: number
}

/** Leads of a bridge to a physical network that have the same way. */
export interface BridgeLeads {
  readonly bridge: string
  /** Names of the ports. */
  readonly from: string
  readonly to: string
  readonly mac: string
  readonly leads: readonly Lead[]
}

export const bridgeFlows: SinkKind<BridgeLeads> = {
  name: 'bridge-flows',
  targets: ({ bridge }) => [bridge],
  validate({ mac, leads }) {
    const refuse = (field: string, value: string, cure: string): never => {
      throw new InvalidFragmentError({ field, value, cure })
    }
    if (tryParseMac(mac) === undefined)
      refuse('status.u2oInterconnectionMAC', mac, 'leave it to the controller')
    for (const { address, port } of leads)
      if (tryParseIp(address) === undefined || !(port > 0 && port <= 0xffff))
        refuse('status.externalAddresses', `${address} ${port}`, 'leave it to the controller')
  },
}

/** Upstream's, by which it knows them, too: of IPv4 and IPv6. */
const cookies = { 4: 0x1000n, 6: 0x1001n } as const
const ours = { cookie: cookies[4], mask: 0xffff_ffff_ffff_fffen }
const priority = 10_000

interface BridgeFlowSinkOptions {
  readonly ovs: LocalOvs
  readonly bridges: Pick<OpenFlowBridges, 'flowOf'>
  readonly physicalBridges: PhysicalBridges
}

/** Writes flows of bridges to physical networks, beside those by which they forward; those of others stay. */
export class BridgeFlowSink implements Sink<BridgeLeads> {
  readonly kind = bridgeFlows
  readonly #options: BridgeFlowSinkOptions
  /** Names of ports that flows are about. */
  readonly #ports = new Map<string, ReadonlySet<string>>()

  constructor(options: BridgeFlowSinkOptions) {
    this.#options = options
  }

  async plan(bridge: string, { claims, isComplete }: Wanted<BridgeLeads>): Promise<SinkPlan> {
    const all = claims.map(({ fragment }) => fragment)
    this.#ports.set(bridge, new Set(all.flatMap(({ from, to }) => [from, to])))
    const flows = all.map((fragment) => this.#flowsOf(fragment))
    // The numbers of ports are told.
    const isWaiting = flows.includes(undefined)
    const wanted = new Map(flows.flatMap((some) => some ?? []).map((flow) => [keyOf(flow), flow]))
    // Without its daemon a bridge has no flows.
    const connection = await this.#options.physicalBridges.connection(bridge, all.length > 0)
    if (connection === undefined) return nothingToDo
    const present = await connection.flows(ours)
    const isThere = (flow: Flow): boolean => present.some((one) => isEqual(one, flow))
    const missing = [...wanted.values()].filter((flow) => !isThere(flow))
    const isTakenAway = isComplete && !isWaiting
    const surplus = isTakenAway ? present.filter((flow) => !wanted.has(keyOf(flow))) : []
    const changes: readonly FlowChange[] = [
      ...surplus.map((flow) => ({ what: 'delete' as const, flow })),
      ...missing.map((flow) => ({ what: 'add' as const, flow })),
    ]
    return {
      changes: changes.map(({ what, flow }) => `${what} flow of ${bridge}: ${flow.match}`),
      isWaiting,
      carryOut: () => connection.write(changes),
    }
  }

  owned(): readonly string[] {
    return this.#options.physicalBridges.owned()
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.physicalBridges.watch(this.#ports, listener)
  }

  /** Nothing while the ports have no numbers. */
  #flowsOf({ from, to, mac, leads }: BridgeLeads): readonly Flow[] | undefined {
    const [inPort = 0, outPort = 0] = [from, to].map((name) => findInterface(this.#options.ovs, name)?.ofport)
    if (inPort <= 0 || outPort <= 0) return undefined
    const target = tryParseMac(mac)
    return leads.flatMap(({ address: text, protocol, port }) => {
      const address = tryParseIp(text)
      if (address === undefined || target === undefined) return []
      const about = { cookie: cookies[familyOf(address)], priority, inPort, outPort, protocol, address, port }
      return [this.#options.bridges.flowOf({ ...about, mac: target })]
    })
  }
}

/** Two flows of a bridge differ in it. */
function keyOf({ priority: rank, match }: Flow): string {
  return `${rank} ${match}`
}

function isEqual(one: Flow, other: Flow): boolean {
  return keyOf(one) === keyOf(other) && one.cookie === other.cookie && one.instructions === other.instructions
}
