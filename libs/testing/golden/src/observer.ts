import { sleep } from '@kube-ovn/time'
import { Informer } from '@kube-ovn/kube'
import type { KubeClient } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { Clock } from '@kube-ovn/time'
import { OvsdbClient } from 'ovsdb-client'
import type { Snapshot } from './dump.ts'
import { dumpKubernetes, dumpedResources, learnKubernetesMacs, listObjects } from './kubernetes-dump.ts'
import { MacNames, type Names } from './mac-names.ts'
import { dumpNorthbound, learnNorthboundMacs, northboundTables } from './northbound-dump.ts'
import { podNames } from './pod-names.ts'

/** Watches both sides of the controller, tells when nothing changes any more, and takes snapshots. */
export class Observer implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #clock: Clock
  readonly #northbound: OvsdbClient<OvnNorthbound>
  readonly #stack = new AsyncDisposableStack()
  #lastChangeMs: number

  private constructor(client: KubeClient, clock: Clock, northbound: OvsdbClient<OvnNorthbound>) {
    this.#client = client
    this.#clock = clock
    this.#northbound = this.#stack.use(northbound)
    this.#lastChangeMs = clock.monotonic()
  }

  static async start(
    client: KubeClient,
    northboundAddress: string,
    clock: Clock,
    logger: Logger,
  ): Promise<Observer> {
    const northbound = new OvsdbClient<OvnNorthbound>({
      endpoints: [northboundAddress],
      schema: ovnNorthboundSchema,
      tables: Object.fromEntries(northboundTables.map((table) => [table, {}])),
    })
    const observer = new Observer(client, clock, northbound)
    await northbound.connect()
    northbound.onChange(() => observer.#changed())
    for (const resource of dumpedResources) {
      const informer = observer.#stack.use(new Informer({ client, resource, clock, logger }))
      informer.onChange(() => observer.#changed())
      informer.start()
    }
    return observer
  }

  get northbound(): OvsdbClient<OvnNorthbound> {
    return this.#northbound
  }

  #changed(): void {
    this.#lastChangeMs = this.#clock.monotonic()
  }

  /** Resolves once nothing has changed for `forMs`, counted from now: what was just done may not have shown yet. */
  async quiet(forMs: number): Promise<void> {
    this.#changed()
    for (;;) {
      const waitMs = this.#lastChangeMs + forMs - this.#clock.monotonic()
      if (waitMs <= 0) return
      await sleep(this.#clock, waitMs)
    }
  }

  /** @param manifests text of all files of the case: MAC addresses in it are not generated ones */
  async snapshot(manifests: string): Promise<Snapshot> {
    const macs = new MacNames(manifests)
    const raw = await listObjects(this.#client)
    learnNorthboundMacs(this.#northbound.cache, macs)
    learnKubernetesMacs(raw, macs)
    const pods = podNames(raw.get('Pod') ?? [])
    const names: Names = { apply: (text) => pods.apply(macs.apply(text)) }
    return {
      northbound: dumpNorthbound(this.#northbound.cache, names),
      kubernetes: dumpKubernetes(raw, names),
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
