import { constants } from 'node:os'
import koffi from 'koffi'

/**
 * The handful of libc functions that Node does not offer. Each returns -1 on failure; `errnoName()` called right after
 * it says why. Buffers are passed by address and not copied.
 */
const libc = koffi.load(null)

export const socket: (domain: number, type: number, protocol: number) => number = libc.func(
  'int socket(int domain, int type, int protocol)',
)
export const bind: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int bind(int fd, const void *address, uint32_t length)',
)
export const setsockopt: (fd: number, level: number, name: number, value: Buffer, length: number) => number =
  libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)')
export const send: (fd: number, buffer: Buffer, length: number, flags: number) => number = libc.func(
  'intptr_t send(int fd, const void *buffer, size_t length, int flags)',
)
export const recv: (fd: number, buffer: Buffer, length: number, flags: number) => number = libc.func(
  'intptr_t recv(int fd, void *buffer, size_t length, int flags)',
)
export const setns: (fd: number, type: number) => number = libc.func('int setns(int fd, int type)')
export const unshare: (flags: number) => number = libc.func('int unshare(int flags)')
/** The third argument is variadic in C; an address is passed the same way on every ABI that Linux runs on here. */
export const ioctl: (fd: number, request: number, argument: Buffer | null) => number = libc.func(
  'int ioctl(int fd, ulong request, void *argument)',
)

/** Some numbers have two names (EAGAIN, EWOULDBLOCK); the first listed is the usual one. */
const errnoNames = new Map(
  Object.entries(constants.errno)
    .map(([name, number]): [number, string] => [number, name])
    .reverse(),
)

/** Names an error number; without one, that of the last call. */
export function errnoName(number = koffi.errno()): string {
  return errnoNames.get(number) ?? `errno ${number}`
}

/** Tells where a buffer lies in memory, for structures that hold pointers. It must stay referenced while they are used. */
export function addressOf(buffer: Buffer): bigint {
  return koffi.address(buffer)
}
