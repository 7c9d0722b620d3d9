import { close } from 'node:fs'
import { netlinkError } from './errors.ts'
import { bind, errnoName, send, socket } from './libc.ts'

/** AF_PACKET, and SOCK_RAW with SOCK_CLOEXEC and SOCK_NONBLOCK: a send waits for nothing. */
const packetFamily = 17
const rawCloseOnExecNonBlocking = 3 | 0o2000000 | 0o4000

/** struct sockaddr_ll of linux/if_packet.h. */
const addressBytes = 20

/**
 * Sends Ethernet frames as they are by a link of the calling thread's namespace.
 *
 * The socket is of no protocol, so that it receives nothing meanwhile.
 *
 * @see packet(7)
 */
export function sendFrames(index: number, frames: readonly Buffer[]): void {
  const descriptor = succeed(index, socket(packetFamily, rawCloseOnExecNonBlocking, 0))
  try {
    const address = Buffer.alloc(addressBytes)
    address.writeUInt16LE(packetFamily, 0)
    address.writeInt32LE(index, 4)
    succeed(index, bind(descriptor, address, address.length))
    for (const frame of frames) succeed(index, send(descriptor, frame, frame.length, 0))
  } finally {
    // The kernel waits for every processor before it lets go of such a socket, which takes 10 ms and more: not here.
    close(descriptor, () => undefined)
  }
}

function succeed(index: number, answer: number): number {
  if (answer >= 0) return answer
  throw netlinkError({ operation: sendOperation, subject: String(index), errno: errnoName(answer) })
}

/** What errors call it. */
export const sendOperation = 'packet send'
