import { execFile } from 'node:child_process'
import { CommandFailedError } from './errors.ts'

/**
 * Runs a command to its end, and answers its standard output.
 *
 * Throws {@link CommandFailedError}.
 */
export function run(command: readonly [string, ...string[]], input = ''): Promise<string> {
  const [file, ...args] = command
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { maxBuffer: 256 * 2 ** 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else
        reject(
          new CommandFailedError(command, child.exitCode ?? undefined, `${stderr}${stdout}`.trim(), error),
        )
    })
    // A command need not read its input; how it ended is told above.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
