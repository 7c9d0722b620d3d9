import { errorCode } from '@kube-ovn/errors'
import { Informer, pods } from '@kube-ovn/kube'
import type { KubeClient, Pod } from '@kube-ovn/kube'
import { podAnnotations } from '@kube-ovn/annotations'
import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import { nodeAddresses } from './recorded-cluster.ts'

/**
 * Does for pods what the recording's kubelet did: a pod with a routed network runs and is ready, a deleted one is gone.
 *
 * There is no node behind it; the cases are about what the controller writes.
 */
export class StandInKubelet implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #informer: Informer<Pod>
  readonly #writes = new Set<Promise<unknown>>()
  #failure: Error | undefined

  constructor(client: KubeClient, clock: Clock, logger: Logger) {
    this.#client = client
    this.#informer = new Informer({ client, resource: pods, clock, logger })
    this.#informer.onChange(({ new: pod }) => {
      if (pod !== undefined) this.#serve(pod)
    })
    this.#informer.start()
  }

  /** Waits for the writes under way; throws what one of them threw. */
  async settled(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes)
    if (this.#failure !== undefined) throw this.#failure
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer[Symbol.asyncDispose]()
    await Promise.all(this.#writes)
  }

  #serve(pod: Pod): void {
    const node = pod.spec.nodeName ?? ''
    if (node === '') return
    const { namespace = '', name } = pod.metadata
    const ref = { namespace, name }
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#write(this.#client.remove(pods, ref, { gracePeriodSeconds: 0 }))
      return
    }
    const addresses = pod.spec.hostNetwork === true ? nodeAddresses(node).slice(0, 1) : routedAddresses(pod)
    if ((pod.status?.phase ?? 'Pending') !== 'Pending' || addresses.length === 0) return
    const now = new Date().toISOString()
    const status = {
      phase: 'Running',
      podIP: addresses[0],
      podIPs: addresses.map((ip) => ({ ip })),
      hostIP: nodeAddresses(node)[0],
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: now,
      })),
    }
    this.#write(
      this.#client.patch(pods, ref, 'application/merge-patch+json', { status }, { subresource: 'status' }),
    )
  }

  #write(write: Promise<unknown>): void {
    const done = write
      .catch((error: unknown) => {
        // A pod that went away meanwhile needs nothing any more.
        if (errorCode(error) !== 'kube-not-found')
          this.#failure ??= new Error('a write of the stand-in failed', { cause: error })
      })
      .finally(() => this.#writes.delete(done))
    this.#writes.add(done)
  }
}

function routedAddresses(pod: Pod): readonly string[] {
  const { routed, ipAddress } = podAnnotations()
  const annotations = pod.metadata.annotations
  const addresses = annotations?.[ipAddress.key] ?? ''
  return routed.read(annotations) === true && addresses !== '' ? addresses.split(',') : []
}
