import { constants } from 'node:os'
import { encodeAddress, errnoName, libcFunction } from '@kube-ovn/netlink'
import { familyOfText, type AddressFamily } from './address-family.ts'
import { BgpConfigInvalidError, BgpSocketError } from './errors.ts'

/** What Node has no way to: options of sockets that must be set before a connection is made. */
export const socket = libcFunction<[domain: number, type: number, protocol: number]>(
  'int socket(int domain, int type, int protocol)',
)
export const connect = libcFunction<[fd: number, address: Buffer, length: number]>(
  'int connect(int fd, const void *address, uint32_t length)',
)
export const bind = libcFunction<[fd: number, address: Buffer, length: number]>(
  'int bind(int fd, const void *address, uint32_t length)',
)
const setOption = libcFunction<[fd: number, level: number, name: number, value: Buffer, length: number]>(
  'int setsockopt(int fd, int level, int name, const void *value, uint32_t length)',
)
const getOption = libcFunction<[fd: number, level: number, name: number, value: Buffer, length: Buffer]>(
  'int getsockopt(int fd, int level, int name, void *value, void *length)',
)

/** Numbers of Linux. */
export const domain = { ipv4: 2, ipv6: 10 } as const satisfies Record<AddressFamily, number>
/** SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK. */
export const streamCloseOnExecNonBlocking = 1 | 0o2000000 | 0o4000
/** SOCK_DGRAM, SOCK_CLOEXEC, SOCK_NONBLOCK. */
export const datagramCloseOnExecNonBlocking = 2 | 0o2000000 | 0o4000
const level = { socket: 1, ip: 0, tcp: 6, ipv6: 41 } as const
const reuseAddress = 2
const socketError = 4
const socketFilter = 26
const ipTtl = 2
const transparent = 19
const unicastHops = 16
const ipv6Only = 26
const noDelay = 1
const md5Signature = 14
const userTimeout = 18
/** Since Linux 6.15. */
const longestRetransmission = 44
/** The shortest that the kernel takes. */
const longestRetransmissionMs = 1_000
/** What TCP takes by itself, as long as retransmissions are far apart. */
const unansweredMs = 15 * 60_000

/** struct sockaddr_in and sockaddr_in6. */
const layout = { ipv4: { length: 16, at: 4 }, ipv6: { length: 28, at: 8 } } as const
/** struct tcp_md5sig: an address in the room of the largest, the length of the key, and the key. */
const md5Layout = { bytes: 216, keyLengthAt: 130, keyAt: 136 } as const
/** TCP_MD5SIG_MAXKEYLEN. */
const longestPassword = 80

/** An address with a port, as the kernel takes it. */
export function socketAddress(address: string, port: number): Buffer {
  const family = familyOfText(address)
  const bytes = Buffer.alloc(layout[family].length)
  bytes.writeUInt16LE(domain[family], 0)
  bytes.writeUInt16BE(port, 2)
  encodeAddress('address', address).copy(bytes, layout[family].at)
  return bytes
}

/** @throws BgpConfigInvalidError for a password that TCP can not sign with; its text is never told */
export function checkPassword(password: string): void {
  const bytes = Buffer.byteLength(password)
  if (bytes > 0 && bytes <= longestPassword) return
  throw new BgpConfigInvalidError({
    field: 'auth-password',
    value: `${bytes} bytes`,
    cure: `use a password of 1 to ${longestPassword} bytes`,
  })
}

/** Signs all segments from and to an address. @throws BgpSocketError */
export function setPassword(fd: number, address: string, password: string): void {
  checkPassword(password)
  const key = Buffer.from(password)
  const value = Buffer.alloc(md5Layout.bytes)
  socketAddress(address, 0).copy(value)
  value.writeUInt16LE(key.length, md5Layout.keyLengthAt)
  key.copy(value, md5Layout.keyAt)
  succeed(setOption(fd, level.tcp, md5Signature, value, value.length), 'TCP_MD5SIG', address)
}

/** @throws BgpSocketError */
export function setTtl(fd: number, family: AddressFamily, ttl: number): void {
  const answer =
    family === 'ipv4' ? setNumber(fd, level.ip, ipTtl, ttl) : setNumber(fd, level.ipv6, unicastHops, ttl)
  succeed(answer, 'set TTL', String(ttl))
}

export function setNoDelay(fd: number): void {
  setNumber(fd, level.tcp, noDelay, 1)
}

/**
 * Has what a peer missed while it was cut off sent again within a second of its return: TCP by itself waits about as long again as that
 * took, two minutes at most. How long is waited altogether is not to follow from that: the hold time decides when a peer is given up.
 */
export function setRetransmission(fd: number): void {
  setNumber(fd, level.tcp, userTimeout, unansweredMs)
  // Older kernels know it not, and wait as they always have.
  setNumber(fd, level.tcp, longestRetransmission, longestRetransmissionMs)
}

/**
 * Has what is still to be sent leave when the own address is gone, so that a peer hears that its session is over: of IPv6 it does so anyway.
 * It needs CAP_NET_RAW. Without that such a peer waits for its hold time, or for BFD.
 */
export function setLeavable(fd: number, family: AddressFamily): void {
  if (family === 'ipv4') setNumber(fd, level.ip, transparent, 1)
}

/** For a socket that listens: it takes the port from connections that are on their way out, and leaves the other family alone. */
export function setListening(fd: number, family: AddressFamily): void {
  setNumber(fd, level.socket, reuseAddress, 1)
  setOwnFamily(fd, family)
}

/** Leaves IPv4 alone on a socket of IPv6. */
export function setOwnFamily(fd: number, family: AddressFamily): void {
  if (family === 'ipv6') setNumber(fd, level.ipv6, ipv6Only, 1)
}

/** @param program struct sock_fprog; what it points at must stay referenced until this is over */
export function attachFilter(fd: number, program: Buffer): number {
  return setOption(fd, level.socket, socketFilter, program, program.length)
}

/** What became of a connection that was begun: 0, or the negative number of an error. */
export function connectResult(fd: number): number {
  const value = Buffer.alloc(4)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(value.length)
  const answer = getOption(fd, level.socket, socketError, value, length)
  return answer < 0 ? answer : -value.readInt32LE()
}

/** Whether the answer of a call says that it goes on by itself. */
export function isUnderWay(answer: number): boolean {
  return answer === -constants.errno.EINPROGRESS
}

/** @throws BgpSocketError */
export function succeed(answer: number, operation: string, address: string): number {
  if (answer >= 0) return answer
  throw new BgpSocketError({ operation, address, errno: errnoName(answer) })
}

function setNumber(fd: number, level: number, name: number, value: number): number {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return setOption(fd, level, name, bytes, bytes.length)
}
