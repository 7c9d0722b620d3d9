import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { BuildProgramError } from './errors.ts'

export interface ProgramOptions {
  /** Gets every line of both outputs as it appears. */
  readonly onLine?: (line: string) => void
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a program to its end.
 *
 * @throws BuildProgramError with the last lines of its output
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<void> {
  const tail: string[] = []
  const exitCode = await new Promise<number | string>((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
    })
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        options.onLine?.(line)
        tail.push(line)
        if (tail.length > 40) tail.shift()
      })
    }
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  if (exitCode !== 0) {
    const line = [command, ...args].join(' ')
    throw new BuildProgramError('a program of the build failed', {
      command: line,
      exitCode,
      output: tail.join('\n'),
    })
  }
}

/** Tells whether a program, run without showing its output, ends with 0. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0))
  })
}
