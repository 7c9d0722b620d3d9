export { backoffDelayMs, type Backoff } from './backoff.ts'
export { pause, sleep, type Clock } from './clock.ts'
export { formatGoDuration, parseGoDuration } from './go-duration.ts'
export { ManualClock } from './manual-clock.ts'
