import { podAnnotations } from '@kube-ovn/annotations'
import { Informer, pods, type Pod } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { KubeApi } from '@kube-ovn/testing-kube'
import { within } from './within.ts'

/** After which nothing is to be waited for. */
const standstillMs = 2 * 60_000

/** Counts the pods that have their address and their port. */
export class AllocatedPods implements AsyncDisposable {
  readonly #informer: Informer<Pod>
  readonly #allocated = new Set<string>()
  #waiters: (() => void)[] = []

  private constructor({ client }: KubeApi) {
    this.#informer = new Informer({
      ...{ client, clock: systemClock, logger: silentLogger },
      ...{ resource: pods, trim: withoutSpec },
    })
    this.#informer.onChange(({ key, new: seen }) => {
      if (seen === undefined) this.#allocated.delete(key)
      else if (podAnnotations().allocated.read(seen.metadata.annotations ?? {}) === true)
        this.#allocated.add(key)
      for (const wake of this.#waiters) wake()
      this.#waiters = []
    })
  }

  /** Knows of all pods when it is given. */
  static async follow(api: KubeApi): Promise<AllocatedPods> {
    const counted = new AllocatedPods(api)
    counted.#informer.start()
    await counted.#informer.synced
    return counted
  }

  /**
   * Resolves when there are so many.
   *
   * @throws Error when nothing has happened to any pod for two minutes
   */
  async until(count: number): Promise<void> {
    while (this.#allocated.size < count) {
      const change = new Promise<void>((resolve) => this.#waiters.push(resolve))
      const seen = () => `another of ${count} pods has its address; ${this.#allocated.size} have`
      await within(standstillMs, seen, change)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#informer[Symbol.asyncDispose]()
  }
}

/** It only counts: what it does not look at costs no memory of the machine. */
function withoutSpec(one: Pod): Pod {
  const { managedFields: _managed, ...metadata } = one.metadata
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }
}
