import { closeSync } from 'node:fs'
import koffi, { type node } from 'koffi'

/**
 * Calls a listener whenever the event loop finds a descriptor readable, until disposed; owns the descriptor.
 *
 * The descriptor is one more entry of the loop's own epoll set: no thread waits for it. The poll is level-triggered, so a listener that
 * reads one datagram only is called again for the next, and others get their turn.
 */
export class ReadableDescriptor implements Disposable {
  readonly descriptor: number
  readonly #listener: () => void
  readonly #poll: node.PollHandle
  #isOpen = true
  #isScheduled = false

  /** `keepsAlive` says that the process does not end while this is open. */
  constructor(descriptor: number, listener: () => void, keepsAlive: boolean) {
    this.descriptor = descriptor
    this.#listener = listener
    this.#poll = koffi.node.poll(descriptor, { readable: true }, () => this.#schedule())
    if (!keepsAlive) this.#poll.unref()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#poll.close()
    closeSync(this.descriptor)
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
      if (this.#isOpen) this.#listener()
    })
  }
}

/**
 * Calls a listener once when the event loop finds a descriptor writable, as one is whose connection was made or refused. Disposing before that
 * cancels the call; the descriptor stays the caller's.
 */
export class WritableDescriptor implements Disposable {
  readonly #poll: node.PollHandle
  #isOpen = true

  constructor(descriptor: number, listener: () => void) {
    this.#poll = koffi.node.poll(descriptor, { writable: true }, () => {
      if (!this.#isOpen) return
      this[Symbol.dispose]()
      // As above: not from within the callback of the poll.
      setImmediate(listener)
    })
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#poll.close()
  }
}
