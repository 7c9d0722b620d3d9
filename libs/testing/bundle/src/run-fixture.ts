import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, dirname, join } from 'node:path'

/** How a run of tests ended. */
export interface FixtureRun {
  /** 0 if all tests passed. */
  readonly exitCode: number
  /** What it printed. */
  readonly output: string
}

export interface FixtureOptions {
  /** Ends them early: that of the test, which is aborted when its time is over. */
  readonly signal?: AbortSignal
  /** Names of Vitest's own reporters, and paths of others. */
  readonly reporters?: readonly string[]
}

/** What a worker needs so that a test in it can collect garbage. */
const workerFlags = ['--expose-gc']

/**
 * Runs the tests in one file by Vitest, in a process of their own: tests about tests.
 *
 * Such a file is named `NAME.fixture.ts`, so that no other run takes it for a test. Its processes are a group of their own,
 * which ends with this process, however that ends: the kernel closes the pipe between them.
 */
export async function runFixture(
  file: string,
  environment: Readonly<Record<string, string>> = {},
  { signal, reporters = ['default'] }: FixtureOptions = {},
): Promise<FixtureRun> {
  const options = {
    config: false,
    watch: false,
    root: dirname(file),
    include: [basename(file)],
    execArgv: workerFlags,
    maxWorkers: 1,
    reporters,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  }
  const program = `
    process.stdin.on('end', () => process.kill(-process.pid, 'SIGKILL')).resume().unref()
    import { startVitest } from 'vitest/node'
    const vitest = await startVitest('test', [], ${JSON.stringify(options)})
    await vitest.close()
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    // From here the package is found.
    cwd: join(import.meta.dirname, '../../../..'),
    env: { ...process.env, NO_COLOR: '1', ...environment },
    detached: true,
    stdio: 'pipe',
  })
  // It may have ended by itself.
  child.stdin.on('error', () => undefined)
  signal?.addEventListener('abort', () => child.stdin.end(), { once: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode: exitCode ?? 1, output }
}
