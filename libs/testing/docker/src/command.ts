import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DockerCommandError } from './errors.ts'

/** Held while something is made that all test fixtures of the machine share. */
const lock = join(tmpdir(), 'kube-ovn-test.lock')

/**
 * Runs a docker command and yields what it prints.
 *
 * @throws {DockerCommandError}
 */
export function docker(...args: readonly string[]): Promise<string> {
  return run('docker', args)
}

/**
 * Runs a shell script that makes something unless it is there, while no other process of the machine runs one.
 *
 * @param args what the script knows as `$1`, `$2`, …
 * @throws {DockerCommandError}
 */
export function onceOnMachine(script: string, args: readonly string[], input = ''): Promise<string> {
  return run('flock', [lock, 'sh', '-c', script, 'sh', ...args], input)
}

function run(program: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { maxBuffer: 2 ** 24 }, (cause, stdout, stderr) => {
      if (cause === null) resolve(stdout.trim())
      else {
        const details = {
          command: [program, ...args].join(' '),
          output: `${stderr}${stdout}`.trim() || cause.message,
          cure: 'start a Docker engine, or see its output',
        }
        reject(new DockerCommandError('Docker command failed', details, { cause }))
      }
    })
    // A command need not read its input; how it ended is told above.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
