import type { Logger } from '@kube-ovn/log'
import { vendor } from '@kube-ovn/ovn-names'
import type { LocalOvs } from '../local-ovs.ts'
import { attachmentId } from './desired.ts'
import type { Kernel } from './link.ts'
import { silenceHostEnd } from './veth.ts'

interface HostEndsDependencies {
  readonly ovs: Pick<LocalOvs, 'cache' | 'state' | 'onState'>
  readonly kernel: Pick<Kernel, 'writeSysctl'>
  readonly log: Logger
}

/** Switches IPv6 off at the host's ends that an earlier agent left with it, once they are known. New ones never have it. */
export class HostEnds implements Disposable {
  readonly #deps: HostEndsDependencies
  #subscription: Disposable | undefined

  constructor(dependencies: HostEndsDependencies) {
    this.#deps = dependencies
  }

  start(): void {
    const { ovs } = this.#deps
    this.#subscription = ovs.onState(({ phase }) => (phase === 'connected' ? this.#silence() : undefined))
    if (ovs.state.phase === 'connected') this.#silence()
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]()
  }

  #silence(): void {
    const { ovs, kernel, log } = this.#deps
    for (const { name, external_ids: ids } of ovs.cache.scan('Interface')) {
      const isOfPod = ids[attachmentId.vendor] === vendor && ids[attachmentId.podName] !== undefined
      if (isOfPod) silenceHostEnd(kernel, name, log)
    }
  }
}
