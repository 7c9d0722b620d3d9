import { systemClock } from '@kube-ovn/process'
import type { Clock } from '@kube-ovn/time'

/** A clock that runs `factor` times as fast as the machine's, from the same time on. */
export function fastClock(factor: number): Clock {
  const startMs = systemClock.now()
  const monotonicStartMs = systemClock.monotonic()
  function elapsedMs(): number {
    return (systemClock.monotonic() - monotonicStartMs) * factor
  }
  return {
    now: () => startMs + elapsedMs(),
    monotonic: () => monotonicStartMs + elapsedMs(),
    setTimer: (delayMs, callback) => systemClock.setTimer(delayMs / factor, callback),
  }
}
