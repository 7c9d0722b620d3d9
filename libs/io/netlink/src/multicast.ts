import { closeSync } from 'node:fs'
import koffi, { type node } from 'koffi'
import { parseDatagram, type Message } from './message.ts'
import { inNamespace } from './namespace.ts'
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

/** Tells the listener of every message of multicast groups that is sent from now on, until disposed. */
export function openMulticast(
  options: MulticastOptions,
  listener: (event: MulticastEvent) => void,
): Disposable {
  const { protocol, groupMask, netns, receiveBufferBytes = defaultReceiveBufferBytes, ref = false } = options
  function open(): number {
    return openEventSocket(protocol, groupMask, receiveBufferBytes)
  }
  return new MulticastReader(netns === undefined ? open() : inNamespace(netns, open), listener, ref)
}

/**
 * Reads an event socket whenever the event loop finds it readable, until disposed; owns the descriptor.
 *
 * The descriptor is one more entry of the loop's own epoll set: no thread waits for it.
 */
class MulticastReader implements Disposable {
  readonly #descriptor: number
  readonly #listener: (event: MulticastEvent) => void
  readonly #poll: node.PollHandle
  #isOpen = true
  #isScheduled = false

  constructor(descriptor: number, listener: (event: MulticastEvent) => void, keepsAlive: boolean) {
    this.#descriptor = descriptor
    this.#listener = listener
    this.#poll = koffi.node.poll(descriptor, { readable: true }, () => this.#schedule())
    if (!keepsAlive) this.#poll.unref()
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#poll.close()
    closeSync(this.#descriptor)
  }

  /**
   * Leaves the poll callback before anything is called: it runs outside of Node's callback scope, where promises are not
   * continued and exceptions go nowhere. Immediates run in the same turn of the loop.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#drain()
    })
  }

  /** Reads one datagram; the poll is level-triggered, so more of them bring us back, and others get their turn. */
  #drain(): void {
    if (!this.#isOpen) return
    const arrival = takeEvent(this.#descriptor)
    if (arrival.kind === 'overrun') this.#listener({ kind: 'overrun' })
    if (arrival.kind !== 'datagram') return
    for (const message of parseDatagram(arrival.bytes).messages) {
      // The listener may have disposed of us.
      if (this.#isOpen) this.#listener({ kind: 'message', message })
    }
  }
}
