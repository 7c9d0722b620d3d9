import { podAnnotations } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import type { Cluster, PodObject } from '@kube-ovn/lab'

/**
 * Sees every state of the pods of a namespace, one after the other, and notes each in which two of them hold the same address or one has lost the
 * address that it had.
 */
export class AddressWatch implements AsyncDisposable {
  /** What must never be, in words. */
  readonly faults: string[] = []
  /** States of pods that were looked at. */
  observations = 0
  readonly #ending = new AbortController()
  readonly #pods = new Map<string, { readonly name: string; readonly addresses: readonly string[] }>()
  /** Pods by address, by uid. */
  readonly #holders = new Map<string, Set<string>>()
  #running: Promise<void> = Promise.resolve()

  static start(cluster: Cluster, namespace: string): AddressWatch {
    const watch = new AddressWatch()
    watch.#running = watch.#follow(cluster, namespace)
    watch.#running.catch((error: unknown) => {
      if (!watch.#ending.signal.aborted) watch.faults.push(`the watch failed: ${String(error)}`)
    })
    return watch
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#running.catch(() => undefined)
  }

  async #follow({ api }: Cluster, namespace: string): Promise<void> {
    const changes = api.watch<PodObject>(`/api/v1/namespaces/${namespace}/pods`, this.#ending.signal)
    for await (const change of changes) {
      if (change.type === 'all') {
        const present = new Set(change.objects.map(({ metadata }) => metadata.uid ?? ''))
        for (const uid of [...this.#pods.keys()]) if (!present.has(uid)) this.#drop(uid)
        for (const pod of change.objects) this.#note(pod)
      } else if (change.type === 'gone') this.#drop(change.object.metadata.uid ?? '')
      else this.#note(change.object)
    }
  }

  #note({ metadata: { uid = '', name, annotations = {} } }: PodObject): void {
    this.observations++
    const { v4, v6 } = podAnnotations().ipAddress.read(annotations) ?? {}
    const addresses = [v4, v6].filter((address) => address !== undefined).map((address) => formatIp(address))
    const before = this.#pods.get(uid)?.addresses ?? []
    if (addresses.join() === before.join()) return
    if (before.length > 0) this.faults.push(`${name} had ${before.join()} and has ${addresses.join()}`)
    this.#drop(uid)
    this.#pods.set(uid, { name, addresses })
    for (const address of addresses) {
      const holders = this.#holders.get(address) ?? new Set()
      this.#holders.set(address, holders.add(uid))
      if (holders.size > 1)
        this.faults.push(`${address} is held by ${[...holders].map((id) => this.#pods.get(id)?.name).join()}`)
    }
  }

  #drop(uid: string): void {
    for (const address of this.#pods.get(uid)?.addresses ?? []) this.#holders.get(address)?.delete(uid)
    this.#pods.delete(uid)
  }
}
