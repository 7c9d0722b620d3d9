import { nothingToDo, type Sink, type SinkKind, type SinkPlan, type Wanted } from '@kube-ovn/fragments'
import type { Netlink, NetlinkEvent } from '@kube-ovn/netlink'

/** A link whose packets nobody completes after the kernel: the checksums of what the host sends by it must be there. */
export interface CompleteChecksums {
  readonly link: string
}

export const offloads: SinkKind<CompleteChecksums> = {
  name: 'offloads',
  targets: ({ link }) => [link],
  // The types say all.
  validate: () => undefined,
}

interface OffloadSinkOptions {
  readonly host: Pick<Netlink, 'offload' | 'disableTxChecksumOffload'>
  /** Tells of links. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
}

/** Switches tx checksum offload off. What nobody wants any more stays off: that costs time of the processor, and harms nobody. */
export class OffloadSink implements Sink<CompleteChecksums> {
  readonly kind = offloads
  readonly #options: OffloadSinkOptions

  constructor(options: OffloadSinkOptions) {
    this.#options = options
  }

  plan(link: string, { claims }: Wanted<CompleteChecksums>): SinkPlan {
    const { host } = this.#options
    if (claims.length === 0) return nothingToDo
    const state = host.offload(link)
    // The coming of the link is told.
    if (state === undefined) return { ...nothingToDo, isWaiting: true }
    if (!state.txChecksum) return nothingToDo
    return {
      changes: [`no tx checksum offload of ${link}`],
      carryOut: () => void host.disableTxChecksumOffload(link),
    }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.onEvent((event) => {
      if (event.kind === 'resync') listener(undefined)
      else if (event.kind === 'link') listener(event.link.name)
    })
  }
}
