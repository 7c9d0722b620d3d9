import { spawnSync } from 'node:child_process'
import { CommandFailedError } from './errors.ts'

/** Runs a command to its end and yields what it printed; its failing is an error with what it complained about. */
export function run(command: string, args: readonly string[], input?: string): string {
  const result = spawnSync(command, args, { encoding: 'utf8', ...(input === undefined ? {} : { input }) })
  const words = [command, ...args].join(' ')
  if (result.error !== undefined) {
    throw new CommandFailedError(
      { command: words, status: 'not started', output: result.error.message },
      { cause: result.error },
    )
  }
  if (result.status !== 0) {
    const status = result.status ?? result.signal ?? 'unknown'
    throw new CommandFailedError({ command: words, status, output: `${result.stderr}${result.stdout}` })
  }
  return result.stdout
}
