import { podAnnotations } from '@kube-ovn/annotations'
import type { InformerHealth, ObjectChange, Store } from '@kube-ovn/kube'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import { vendor } from '@kube-ovn/ovn-names'
import type { Clock } from '@kube-ovn/time'
import { podIdentities } from '../kube-objects.ts'
import { LevelLoop } from '../level-loop.ts'
import type { InterfaceRow } from '../local-ovs.ts'
import { attachmentId } from '../pod-nic/desired.ts'
import type { PodNics } from '../pod-nic/feature.ts'
import { removeEach } from '../remove-each.ts'
import { staleReason, type LocalPod, type PodPort, type StaleReason } from './desired.ts'

const { virtualMachine } = podAnnotations()

/** How long a port may look stale: the runtime's own DEL comes within this time, and cleans up better. */
const graceMs = 30_000

type InterfaceFacts = Pick<InterfaceRow, 'name' | 'external_ids'> & { readonly error?: string | undefined }

/** Only what is used, so that time and caches can be played with in tests. */
interface StalePortsDependencies {
  readonly ovs: {
    readonly cache: {
      scan(table: 'Interface'): Iterable<InterfaceFacts>
    }
    onChange(listener: (changes: readonly { readonly table: string }[]) => void): Disposable
  }
  readonly pods: {
    readonly store: Pick<Store<Pod>, 'get' | 'values'>
    readonly health: Pick<InformerHealth, 'isSynced'>
    onChange(listener: (change: ObjectChange<Pod>) => void): Disposable
  }
  readonly podNics: Pick<PodNics, 'isBusy' | 'removePort'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/**
 * Removes ports of pods that are gone without a DEL: after a crash, a reboot, or a forced deletion.
 *
 * Looks when a pod goes, when an interface changes, and when the grace of a port ends.
 */
export class StalePorts implements Disposable {
  readonly #deps: StalePortsDependencies
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  /** When each port was first seen to be stale, by name. */
  #sinceMs = new Map<string, number>()
  #timer: Disposable | undefined

  constructor(dependencies: StalePortsDependencies) {
    this.#deps = dependencies
    this.#loop = new LevelLoop({ ...dependencies, name: 'stale-ports', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const trigger = (): void => this.#loop.trigger()
    this.#subscriptions.use(
      this.#deps.pods.onChange((change) => (change.new === undefined ? trigger() : undefined)),
    )
    this.#subscriptions.use(
      this.#deps.ovs.onChange((changes) =>
        changes.some(({ table }) => table === 'Interface') ? trigger() : undefined,
      ),
    )
    trigger()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#timer?.[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  async #reconcile(): Promise<void> {
    const { clock, podNics, pods, log } = this.#deps
    // An empty store that was never filled says nothing about which pods exist.
    if (!pods.health.isSynced) return
    const nowMs = clock.monotonic()
    const sinceMs = new Map<string, number>()
    try {
      await removeEach(this.#due(nowMs, sinceMs), async ({ name, podNamespace, podName, reason }) => {
        await podNics.removePort(name)
        sinceMs.delete(name)
        log.info('stale port removed', { hostName: name, pod: `${podNamespace}/${podName}`, reason })
      })
    } finally {
      this.#sinceMs = sinceMs
      this.#timer?.[Symbol.dispose]()
      const graces = [...sinceMs.values()].map((since) => since + graceMs - nowMs).filter((ms) => ms > 0)
      this.#timer =
        graces.length === 0 ? undefined : clock.setTimer(Math.min(...graces), () => this.#loop.trigger())
    }
  }

  /**
   * Yields the ports whose grace is over, each when its turn has come, so that the ones before it may take their time.
   *
   * Notes in `sinceMs` since when the others are stale, and those that were not removed: they are not given their grace
   * anew because the database was away.
   */
  *#due(nowMs: number, sinceMs: Map<string, number>): Iterable<PodPort & { readonly reason: StaleReason }> {
    const { podNics } = this.#deps
    for (const port of this.#ports()) {
      const reason = staleReason(port, this.#pod(port))
      if (reason === undefined || podNics.isBusy(port.name)) continue
      const since = this.#sinceMs.get(port.name) ?? nowMs
      sinceMs.set(port.name, since)
      if (nowMs - since < graceMs) continue
      yield { ...port, reason }
    }
  }

  *#ports(): Iterable<PodPort> {
    for (const row of [...this.#deps.ovs.cache.scan('Interface')]) {
      const ids = row.external_ids
      const podName = ids[attachmentId.podName]
      const podNamespace = ids[attachmentId.podNamespace]
      if (podName === undefined || podNamespace === undefined || ids[attachmentId.vendor] !== vendor) continue
      yield {
        name: row.name,
        podName,
        podNamespace,
        podUid: ids[attachmentId.podUid] ?? '',
        error: row.error ?? '',
      }
    }
  }

  /** The pod of the port's name, and those in which a machine of that name runs. */
  #pod({ podNamespace, podName }: PodPort): LocalPod | undefined {
    const { store } = this.#deps.pods
    const named = store.get(`${podNamespace}/${podName}`)
    const launchers = [...store.values()].filter(
      ({ metadata: { namespace, annotations } }) =>
        namespace === podNamespace && virtualMachine.read(annotations) === podName,
    )
    const pods = named === undefined ? launchers : [named, ...launchers]
    return pods.length === 0 ? undefined : { uids: pods.flatMap(podIdentities) }
  }
}
