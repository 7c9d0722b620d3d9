import type { Clock } from '@kube-ovn/time'

/**
 * Waits, without polling, until a function yields something.
 *
 * `read` is called at once and then at every call of the function that `subscribe` is given. What it throws rejects;
 * so does the reason of `signal` when that is aborted first.
 */
export function waitUntil<T>(
  read: () => T | undefined,
  subscribe: (recheck: () => void) => readonly Disposable[],
  signal: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  function recheck(): void {
    try {
      if (signal.aborted) return reject(signal.reason)
      const value = read()
      if (value !== undefined) resolve(value)
    } catch (error) {
      reject(error)
    }
  }
  const subscriptions = subscribe(recheck)
  signal.addEventListener('abort', recheck, { once: true })
  recheck()
  return promise.finally(() => {
    signal.removeEventListener('abort', recheck)
    for (const subscription of subscriptions) subscription[Symbol.dispose]()
  })
}

/** Bounds an action in time; when the time is over, its signal is aborted with the error that `timeoutError` makes. */
export async function withinMs<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  timeoutError: () => Error,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController()
  using _timer = clock.setTimer(timeoutMs, () => timeout.abort(timeoutError()))
  return await action(AbortSignal.any([signal, timeout.signal]))
}
