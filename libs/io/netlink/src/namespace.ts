import { errorCode } from '@kube-ovn/errors'
import { closeSync, openSync } from 'node:fs'
import { NamespaceNotFoundError, netlinkError } from './errors.ts'
import { errnoName, setns, unshare } from './libc.ts'
import type { NamespaceReference } from './types.ts'

/** CLONE_NEWNET: setns refuses a descriptor that is not of a network namespace. */
const networkNamespaceType = 0x40000000

/**
 * Runs a function with the calling thread in another network namespace.
 *
 * Sockets that it opens belong to that namespace for good, and `/proc/sys/net` shows that namespace's settings. The
 * function must be synchronous: the thread is shared with everything else that this process does, so it has to be back
 * before the event loop turns. Threads of libuv's pool stay where they are, so only synchronous calls of `node:fs` see
 * the namespace. A process started by the function begins in it.
 *
 * If the thread cannot return, the process is aborted: everything after would silently happen in the wrong network.
 *
 * @see setns(2)
 */
export function inNamespace<T>(
  netns: NamespaceReference,
  action: () => T extends PromiseLike<unknown> ? never : T,
): T {
  const target = typeof netns === 'number' ? netns : openNamespace(netns)
  try {
    return away(() => enter(target, String(netns)), action)
  } finally {
    if (target !== netns) closeSync(target)
  }
}

/**
 * Runs a function with the calling thread in a new, empty network namespace; see `inNamespace`.
 *
 * The namespace lives for as long as something uses it: a socket opened or a process started by the function.
 */
export function inFreshNamespace<T>(action: () => T extends PromiseLike<unknown> ? never : T): T {
  return away(() => {
    const answer = unshare(networkNamespaceType)
    if (answer === 0) return
    throw netlinkError({ operation: 'netns create', subject: 'unnamed', errno: errnoName(answer) })
  }, action)
}

/** A network namespace that nothing has a name for but a descriptor of this process. */
export interface HeldNamespace extends Disposable {
  /** Leads to it in this process alone, until it is disposed of. */
  readonly path: string
}

/** Makes an empty network namespace, which ends with the process at the latest. */
export function holdFreshNamespace(): HeldNamespace {
  const descriptor = inFreshNamespace(() => openSync('/proc/thread-self/ns/net', 'r'))
  return { path: `/proc/self/fd/${descriptor}`, [Symbol.dispose]: () => closeSync(descriptor) }
}

function away<T>(leave: () => void, action: () => T): T {
  const home = openSync('/proc/thread-self/ns/net', 'r')
  try {
    leave()
    try {
      return action()
    } finally {
      if (setns(home, networkNamespaceType) < 0) process.abort()
    }
  } finally {
    closeSync(home)
  }
}

/** Opens a namespace; the descriptor keeps it in being until it is closed. */
export function openNamespace(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    const errno = errorCode(cause) ?? 'EIO'
    throw new NamespaceNotFoundError({ netns: path, errno }, { cause })
  }
}

function enter(descriptor: number, subject: string): void {
  const answer = setns(descriptor, networkNamespaceType)
  if (answer === 0) return
  const errno = errnoName(answer)
  if (errno === 'EINVAL' || errno === 'EBADF') throw new NamespaceNotFoundError({ netns: subject, errno })
  throw netlinkError({ operation: 'netns enter', subject, errno })
}
