/**
 * Is time as a parameter: code that waits or dates something takes one, so that tests can move it.
 *
 * Core may not read the real clock; `systemClock` is in `@kube-ovn/process`.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. It may jump; use it to date things for others. */
  now(): number
  /** Milliseconds since an arbitrary start. It never jumps or goes back; use it to measure. */
  monotonic(): number
  /**
   * Calls `callback` once after `delayMs` (at the earliest in a later turn of the event loop).
   *
   * Disposing the answer before that cancels the call, and is harmless afterwards.
   */
  setTimer(delayMs: number, callback: () => void): Disposable
}

/** Waits for `delayMs`, or until `signal` is aborted, whichever is first. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return sleep(clock, delayMs, signal).catch(() => undefined)
}

/**
 * Waits for `delayMs`.
 *
 * Rejects with the reason of `signal` as soon as it is aborted.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    function onAbort(): void {
      timer[Symbol.dispose]()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
