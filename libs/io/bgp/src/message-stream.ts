import { decodeBody, decodeHeader, headerBytes, type Message, type MessageContext } from './message.ts'

/** Cuts what comes over a connection into messages. Holds one message at most beside what has just come. */
export class MessageStream {
  #left: Buffer = Buffer.alloc(0)

  /**
   * Takes what came, and passes each message on that is whole; the context is asked for each, as an OPEN changes it.
   *
   * @throws BgpMessageError
   */
  push(bytes: Buffer, context: () => MessageContext, take: (message: Message) => void): void {
    let all = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes])
    this.#left = Buffer.alloc(0)
    while (all.length >= headerBytes) {
      const { length, type } = decodeHeader(all)
      if (all.length < length) break
      take(decodeBody(type, all.subarray(headerBytes, length), context()))
      all = all.subarray(length)
    }
    this.#left = Buffer.from(all)
  }
}
