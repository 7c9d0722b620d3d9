import { createSocket, type Socket } from 'node:dgram'
import { closeSync } from 'node:fs'
import { addressOf, decodeAddress, encodeAddress, inNamespace } from '@kube-ovn/netlink'
import { familyOfText, type AddressFamily } from '../address-family.ts'
import { BgpSocketError } from '../errors.ts'
import {
  attachFilter,
  bind,
  datagramCloseOnExecNonBlocking,
  domain,
  setOwnFamily,
  setTtl,
  socket,
  socketAddress,
  succeed,
} from '../tcp-options.ts'

/** RFC 5881, section 4. */
const controlPort = 3784
const sourcePorts = { first: 49_152, last: 65_535 } as const
/** A packet that a router has forwarded has less: it comes from another link, and is forged (section 5). */
const ttl = 255

/** Sends packets to a neighbour from one address and port. */
export class BfdSender implements Disposable {
  readonly #socket: Socket
  readonly #to: string

  private constructor(socket: Socket, to: string) {
    this.#socket = socket
    this.#to = to
  }

  /** @throws BgpSocketError by rejecting */
  static async open(source: string, to: string, netns?: string): Promise<BfdSender> {
    const family = familyOfText(to)
    const fd = openDatagram(family, to, netns)
    try {
      setTtl(fd, family, ttl)
      bindFree(fd, source)
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return new BfdSender(await adopt(fd, family, source), to)
  }

  send(bytes: Buffer): void {
    // What does not leave is missed by the neighbour, and that is what BFD is for.
    this.#socket.send(bytes, controlPort, this.#to, () => undefined)
  }

  [Symbol.dispose](): void {
    // What was sent last leaves first.
    setImmediate(() => this.#socket.close())
  }
}

/** Listens for packets of a family that come from the link itself. @throws BgpSocketError by rejecting */
export async function listenBfd(
  family: AddressFamily,
  netns: string | undefined,
  taken: (from: string, bytes: Buffer) => void,
): Promise<Disposable> {
  const any = family === 'ipv4' ? '0.0.0.0' : '::'
  const fd = openDatagram(family, any, netns)
  try {
    setOwnFamily(fd, family)
    succeed(attachTtlFilter(fd, family), 'SO_ATTACH_FILTER', any)
    const own = socketAddress(any, controlPort)
    succeed(bind(fd, own, own.length), 'bind', `${any} port ${controlPort}`)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  const listener = await adopt(fd, family, any)
  listener.on('message', (bytes, { address }) => taken(canonical(address), bytes))
  return { [Symbol.dispose]: () => void listener.close() }
}

/** Ports are tried at random: another program may have one. */
function bindFree(fd: number, source: string): void {
  const count = sourcePorts.last - sourcePorts.first + 1
  for (let left = 16; ; left--) {
    const own = socketAddress(source, sourcePorts.first + Math.floor(Math.random() * count))
    const answer = bind(fd, own, own.length)
    if (answer >= 0 || left === 0) return void succeed(answer, 'bind', source)
  }
}

/**
 * Has the kernel drop what has another TTL: four instructions of classic BPF, which read the byte at its offset in the network header.
 */
function attachTtlFilter(fd: number, family: AddressFamily): number {
  const offset = networkHeader + (family === 'ipv4' ? 8 : 7)
  const instructions: readonly (readonly [code: number, ifTrue: number, ifFalse: number, value: number])[] = [
    [loadByte, 0, 0, offset],
    [jumpIfEqual, 0, 1, ttl],
    [answer, 0, 0, 0xffffffff],
    [answer, 0, 0, 0],
  ]
  const program = Buffer.alloc(instructions.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    program.writeUInt16LE(code, index * 8)
    program.writeUInt8(ifTrue, index * 8 + 2)
    program.writeUInt8(ifFalse, index * 8 + 3)
    program.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  // struct sock_fprog: a length, and where the program is.
  const filter = Buffer.alloc(16)
  filter.writeUInt16LE(instructions.length, 0)
  filter.writeBigUInt64LE(addressOf(program), 8)
  return attachFilter(fd, filter)
}

/** SKF_NET_OFF. */
const networkHeader = -0x100000
/** BPF_LD | BPF_B | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K. */
const [loadByte, jumpIfEqual, answer] = [0x30, 0x15, 0x06]

function openDatagram(family: AddressFamily, address: string, netns: string | undefined): number {
  const open = (): number => socket(domain[family], datagramCloseOnExecNonBlocking, 0)
  return succeed(netns === undefined ? open() : inNamespace(netns, open), 'socket', address)
}

/** Hands a socket to Node, which closes it from then on. */
function adopt(fd: number, family: AddressFamily, address: string): Promise<Socket> {
  const socket = createSocket(family === 'ipv4' ? 'udp4' : 'udp6')
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) =>
      reject(new BgpSocketError({ operation: 'bind', address, errno: error.code ?? error.message })),
    )
    socket.bind({ fd }, () => {
      // An error of one packet, such as that nobody listens at the neighbour, is nothing that ends a session.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

/** Without the zone of a link-local address, and written as others write it. */
function canonical(address: string): string {
  return decodeAddress(encodeAddress('address', address.split('%')[0] ?? ''))
}
