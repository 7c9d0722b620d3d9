import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandFailedError } from './errors.ts'

/** Held while something is made that all test fixtures of the machine share. */
const lock = join(tmpdir(), 'kube-ovn-test.lock')

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

/**
 * Runs a docker command, and answers what it prints without the last line's end.
 *
 * Throws {@link CommandFailedError}.
 */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run(['docker', ...args])).trim()
}

/**
 * Runs a shell script that makes something unless it is there, while no other process of the machine runs one. The script knows `args`
 * as `$1`, `$2`, …
 *
 * Throws {@link CommandFailedError}.
 */
export async function onceOnMachine(script: string, args: readonly string[], input = ''): Promise<void> {
  await run(['flock', lock, 'sh', '-c', script, 'sh', ...args], input)
}
