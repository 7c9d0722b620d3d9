import { podAnnotations } from '@kube-ovn/annotations'
import { LabTimeoutError } from '../errors.ts'
import { isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** How far a pod is: it exists, it has its addresses and its port, it runs. */
const stages = ['created', 'addressed', 'ready'] as const
export type PodStage = (typeof stages)[number]

/** Counts the pods of a namespace by how far they are. One watch, however many wait for however many pods. */
export class PodTally implements AsyncDisposable {
  readonly #ending = new AbortController()
  /** By uid. */
  readonly #stages = new Map<string, PodStage>()
  readonly #counts = { created: 0, addressed: 0, ready: 0 }
  #wakeUps: (() => void)[] = []
  #isListed = false
  #running: Promise<void> = Promise.resolve()

  static start(cluster: Cluster, namespace: string): PodTally {
    const tally = new PodTally()
    tally.#running = tally.#follow(cluster, namespace)
    // Whoever waits is told.
    tally.#running.catch(() => undefined)
    return tally
  }

  /**
   * Resolves when so many pods are at least so far: exactly so many, unless more or fewer will do.
   *
   * @throws {LabTimeoutError}
   */
  async until(
    stage: PodStage,
    count: number,
    { timeoutMs = 300_000, orMore = false, orFewer = false } = {},
  ): Promise<void> {
    const isReached = (seen: number): boolean =>
      seen === count || (orMore && seen > count) || (orFewer && seen < count)
    const deadline = AbortSignal.timeout(timeoutMs)
    const ended = new Promise<void>((resolve) => {
      deadline.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!this.#isListed || !isReached(this.#counts[stage])) {
      const changed = new Promise<void>((resolve) => this.#wakeUps.push(resolve))
      await Promise.race([changed, ended, this.#running])
      if (deadline.aborted)
        throw new LabTimeoutError('something did not happen in time', {
          what: `${count} pods are ${stage}`,
          timeoutMs,
          seen: JSON.stringify(this.#counts),
        })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#running.catch(() => undefined)
  }

  async #follow({ api }: Cluster, namespace: string): Promise<void> {
    const changes = api.watch<PodObject>(`/api/v1/namespaces/${namespace}/pods`, this.#ending.signal)
    for await (const change of changes) {
      if (change.type === 'all') {
        for (const uid of [...this.#stages.keys()]) this.#note(uid, undefined)
        for (const pod of change.objects) this.#note(uidOf(pod), stageOf(pod))
        this.#isListed = true
      } else this.#note(uidOf(change.object), change.type === 'gone' ? undefined : stageOf(change.object))
      for (const wakeUp of this.#wakeUps) wakeUp()
      this.#wakeUps = []
    }
  }

  #note(uid: string, stage: PodStage | undefined): void {
    const old = this.#stages.get(uid)
    if (old === stage) return
    for (const one of reached(old)) this.#counts[one]--
    for (const one of reached(stage)) this.#counts[one]++
    if (stage === undefined) this.#stages.delete(uid)
    else this.#stages.set(uid, stage)
  }
}

function reached(stage: PodStage | undefined): readonly PodStage[] {
  return stage === undefined ? [] : stages.slice(0, stages.indexOf(stage) + 1)
}

function uidOf({ metadata }: PodObject): string {
  return metadata.uid ?? ''
}

function stageOf(pod: PodObject): PodStage {
  if (isPodReady(pod)) return 'ready'
  return podAnnotations().allocated.read(pod.metadata.annotations ?? {}) === true ? 'addressed' : 'created'
}
