import { execFile, type ChildProcess, spawn } from 'node:child_process'
import { ProgramError } from './errors.ts'

export interface ProgramOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly timeoutMs?: number
}

export interface ProgramResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, whatever it exits with. */
export function tryProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      {
        encoding: 'utf8',
        maxBuffer: 64 << 20,
        timeout: options.timeoutMs ?? 0,
        killSignal: 'SIGKILL',
        env: { ...process.env, ...options.env },
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code === 'string')
          reject(new Error(`can not run ${command}`, { cause: error }))
        else resolve({ exitCode: error === null ? 0 : (child.exitCode ?? 137), stdout, stderr })
      },
    )
    // A program may end before it has read its input (EPIPE): its exit code is what counts.
    child.stdin?.on('error', () => undefined)
    if (options.input !== undefined) child.stdin?.end(options.input)
  })
}

/**
 * Runs a program and returns its standard output.
 *
 * @throws {ProgramError} if it exits with something else than 0
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await tryProgram(command, args, options)
  if (exitCode === 0) return stdout
  const output = `${stdout}\n${stderr}`.trim().slice(-4000)
  throw new ProgramError('a program failed', { command: [command, ...args].join(' '), exitCode, output })
}

/** Starts a program whose output is read while it runs. */
export function startProgram(command: string, args: readonly string[]): ChildProcess {
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
}
