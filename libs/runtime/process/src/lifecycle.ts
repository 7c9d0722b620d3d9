import type { Logger } from '@kube-ovn/log'

/** How long a stop may take before the process ends anyway. */
const stopLimitMs = 10_000

/**
 * Runs a program until a signal, or until `run` ends by itself.
 *
 * SIGTERM and SIGINT abort the signal that `run` is given; it has 10 s to give up what it holds. A rejection that nobody
 * handles is a defect: it is logged and ends the process, since what it was part of is in an unknown state.
 *
 * @returns never: the process exits, 0 after a signal or a normal end, else 1
 */
export async function runUntilSignal(
  log: Logger,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<never> {
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      log.info('stop requested', { signal: name })
      stop.abort()
      setTimeout(() => {
        log.error('stop took too long', { ms: stopLimitMs })
        process.exit(1)
      }, stopLimitMs).unref()
    })
  }
  process.on('unhandledRejection', (reason) => {
    log.error('rejection was not handled', { err: reason })
    process.exit(1)
  })
  try {
    await run(stop.signal)
    process.exit(0)
  } catch (error) {
    if (stop.signal.aborted) process.exit(0)
    log.error('process failed', { err: error })
    process.exit(1)
  }
}
