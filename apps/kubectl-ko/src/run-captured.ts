import { Readable, Writable } from 'node:stream'
import { runProgram } from './program.ts'

/** What a command line printed, and how it ended. */
export interface Captured {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command line as `main.ts` does, and keeps what it prints. */
export async function runCaptured(
  args: readonly string[],
  {
    directory = '/nonexistent',
    environment = {},
    signal = new AbortController().signal,
  }: {
    readonly directory?: string
    readonly environment?: Readonly<Record<string, string>>
    readonly signal?: AbortSignal
  } = {},
): Promise<Captured> {
  const [stdout, stderr] = [new Collecting(), new Collecting()]
  const context = { stdin: Readable.from([]), stdout, stderr, directory, environment, signal, exitCode: 0 }
  const exitCode = await runProgram(args, context)
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

class Collecting extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8')
    done()
  }
}
