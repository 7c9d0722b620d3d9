import type { Clock } from '@kube-ovn/time'

/** The machine's clock, for what talks to a real API server, whose time cannot be moved. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
