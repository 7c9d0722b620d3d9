import { constants } from 'node:os'
import koffi from 'koffi'

/**
 * The socket calls that Node does not offer: Node can neither send ICMP, nor see the TTL or the DSCP of what it receives, nor open a socket
 * in another network namespace. Each returns -1 on failure; `errnoName()` called right after it says why.
 */
const libc = koffi.load(null)

export const socket: (domain: number, type: number, protocol: number) => number = libc.func(
  'int socket(int domain, int type, int protocol)',
)
export const bind: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int bind(int fd, const void *address, uint32_t length)',
)
export const connect: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int connect(int fd, const void *address, uint32_t length)',
)
export const listen: (fd: number, backlog: number) => number = libc.func('int listen(int fd, int backlog)')
/** The length is read and written; the peer's address goes into the buffer. */
export const accept4: (fd: number, address: Buffer, length: Buffer, flags: number) => number = libc.func(
  'int accept4(int fd, void *address, void *length, int flags)',
)
export const setsockopt: (fd: number, level: number, name: number, value: Buffer, length: number) => number =
  libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)')
export const getsockopt: (fd: number, level: number, name: number, value: Buffer, length: Buffer) => number =
  libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)')
export const send: (fd: number, data: Buffer, length: number, flags: number) => number = libc.func(
  'intptr_t send(int fd, const void *data, size_t length, int flags)',
)
export const sendto: (
  fd: number,
  data: Buffer,
  length: number,
  flags: number,
  to: Buffer,
  toLength: number,
) => number = libc.func(
  'intptr_t sendto(int fd, const void *data, size_t length, int flags, const void *to, uint32_t toLength)',
)
/** Takes a struct msghdr, whose pointers are made with `addressOf`. */
export const recvmsg: (fd: number, header: Buffer, flags: number) => number = libc.func(
  'intptr_t recvmsg(int fd, void *header, int flags)',
)

const errnoNames = new Map(
  Object.entries(constants.errno)
    .map(([name, number]): [number, string] => [number, name])
    .reverse(),
)

/** Names an error number; without one, that of the last call. */
export function errnoName(number = koffi.errno()): string {
  return errnoNames.get(number) ?? (number === 94 ? 'ESOCKTNOSUPPORT' : `errno ${number}`)
}

/** Tells where a buffer lies in memory, for structures that hold pointers. It must stay referenced while they are used. */
export function addressOf(buffer: Buffer): bigint {
  return koffi.address(buffer)
}
