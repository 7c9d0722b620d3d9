import { parseDatagram, type Message } from './message.ts'
import { inNamespace } from './namespace.ts'
import { ReadableDescriptor } from './readable.ts'
import { openEventSocket, takeEvent } from './socket.ts'
import type { NamespaceReference, WatchOptions } from './types.ts'

/** One message of a multicast group, or word that the kernel dropped some because nobody read in time. */
export type MulticastEvent =
  { readonly kind: 'message'; readonly message: Message } | { readonly kind: 'overrun' }

export interface MulticastOptions extends WatchOptions {
  /** NETLINK_* of linux/netlink.h: 0 is routing, 12 netfilter. */
  readonly protocol: number
  /** Bit n-1 stands for group n. */
  readonly groupMask: number
  /** Default: the namespace this process is in. */
  readonly netns?: NamespaceReference
}

/** Room for bursts: a few thousand events, while the event loop is busy elsewhere. */
const defaultReceiveBufferBytes = 4 * 1024 * 1024

/** Is told of messages, until disposed. */
export interface Multicast extends Disposable {
  /** Tells the listener now of what has arrived, which the event loop would come to later. */
  takeArrived(): void
}

/** Tells the listener of every message of multicast groups that is sent from now on, until disposed. */
export function openMulticast(
  options: MulticastOptions,
  listener: (event: MulticastEvent) => void,
): Multicast {
  const { protocol, groupMask, netns, receiveBufferBytes = defaultReceiveBufferBytes, ref = false } = options
  function open(): number {
    return openEventSocket(protocol, groupMask, receiveBufferBytes)
  }
  return new MulticastReader(netns === undefined ? open() : inNamespace(netns, open), listener, ref)
}

/** Reads an event socket whenever the event loop finds it readable, until disposed; owns the descriptor. */
class MulticastReader implements Multicast {
  readonly #listener: (event: MulticastEvent) => void
  readonly #readable: ReadableDescriptor

  constructor(descriptor: number, listener: (event: MulticastEvent) => void, keepsAlive: boolean) {
    this.#listener = listener
    this.#readable = new ReadableDescriptor(descriptor, () => void this.#takeOne(), keepsAlive)
  }

  [Symbol.dispose](): void {
    this.#readable[Symbol.dispose]()
  }

  takeArrived(): void {
    while (this.#readable.isOpen && this.#takeOne());
  }

  /** Reads one datagram, and answers whether there was something. */
  #takeOne(): boolean {
    const arrival = takeEvent(this.#readable.descriptor)
    if (arrival.kind === 'nothing') return false
    if (arrival.kind === 'overrun') {
      this.#listener({ kind: 'overrun' })
      return true
    }
    for (const message of parseDatagram(arrival.bytes).messages) {
      // The listener may have disposed of us.
      if (this.#readable.isOpen) this.#listener({ kind: 'message', message })
    }
    return true
  }
}
