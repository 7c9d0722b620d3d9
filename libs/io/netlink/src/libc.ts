import { constants } from 'node:os'
import koffi from 'koffi'

const libc = koffi.load(null)

/**
 * The error number of this thread, as memory (errno(3)).
 *
 * Asking koffi for it would be one more call into native code, and whatever runs before that, a collection of garbage for
 * instance, calls libc as well and leaves its own number there.
 */
const lastError = new Int32Array(koffi.view(libc.func('int *__errno_location()')(), 4))

/**
 * Gives a function of libc that Node does not offer. It answers as the kernel does: what went wrong is the negative error
 * number, read before anything else can run, where libc's own answer is -1. Buffers are passed by address and not copied.
 */
export function libcFunction<A extends readonly unknown[]>(declaration: string): (...args: A) => number {
  const call: (...args: A) => number = libc.func(declaration)
  return (...args) => {
    const answer = call(...args)
    return answer === -1 ? -(lastError[0] ?? constants.errno.EIO) : answer
  }
}

export const socket = libcFunction<[domain: number, type: number, protocol: number]>(
  'int socket(int domain, int type, int protocol)',
)
export const bind = libcFunction<[fd: number, address: Buffer, length: number]>(
  'int bind(int fd, const void *address, uint32_t length)',
)
export const setsockopt = libcFunction<
  [fd: number, level: number, name: number, value: Buffer, length: number]
>('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)')
export const send = libcFunction<[fd: number, buffer: Buffer, length: number, flags: number]>(
  'intptr_t send(int fd, const void *buffer, size_t length, int flags)',
)
export const recv = libcFunction<[fd: number, buffer: Buffer, length: number, flags: number]>(
  'intptr_t recv(int fd, void *buffer, size_t length, int flags)',
)
export const setns = libcFunction<[fd: number, type: number]>('int setns(int fd, int type)')
export const unshare = libcFunction<[flags: number]>('int unshare(int flags)')
/** The third argument is variadic in C; an address is passed the same way on every ABI that Linux runs on here. */
export const ioctl = libcFunction<[fd: number, request: number, argument: Buffer | null]>(
  'int ioctl(int fd, ulong request, void *argument)',
)

/** Some numbers have two names (EAGAIN, EWOULDBLOCK); the first listed is the usual one. */
const errnoNames = new Map(
  Object.entries(constants.errno)
    .map(([name, number]): [number, string] => [number, name])
    .reverse(),
)

/** Names an error number: a positive one, or the negative answer of a function of libc. */
export function errnoName(number: number): string {
  const errno = Math.abs(number)
  return errnoNames.get(errno) ?? `errno ${errno}`
}

/** Tells where a buffer lies in memory, for structures that hold pointers. It must stay referenced while they are used. */
export function addressOf(buffer: Buffer): bigint {
  return koffi.address(buffer)
}
