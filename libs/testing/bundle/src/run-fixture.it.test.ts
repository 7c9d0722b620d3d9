import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runFixture } from './run-fixture.ts'

const fixture = join(import.meta.dirname, 'hanging.fixture.ts')

/** Listens where the fixture's test connects to. */
async function listen(
  stack: AsyncDisposableStack,
): Promise<{ readonly server: Server; readonly path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-fixture-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const path = join(directory, 'socket')
  return { server: stack.adopt(createServer().listen(path), (one) => void one.close()), path }
}

interface Running {
  /** Process that has the worker in which the test runs. */
  readonly runner: number
  readonly gone: Promise<unknown>
}

async function untilRunning(server: Server): Promise<Running> {
  const [worker] = (await once(server, 'connection')) as [Socket]
  const gone = once(
    worker.on('error', () => undefined),
    'close',
  )
  const [runner] = (await once(worker, 'data')) as [Buffer]
  return { runner: Number(runner.toString()), gone }
}

// Nobody else would end it: the test in it has no time limit. A runner of its own takes long to start on a busy machine.
describe('a fixture that never ends', () => {
  it('ends when the process that waits for it is killed', async () => {
    await using stack = new AsyncDisposableStack()
    const { server, path } = await listen(stack)
    const program = `
      import { runFixture } from ${JSON.stringify(join(import.meta.dirname, 'run-fixture.ts'))}
      await runFixture(${JSON.stringify(fixture)}, ${JSON.stringify({ HANGING_SOCKET: path })})
    `
    const waiting = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' })
    stack.defer(() => void waiting.kill('SIGKILL'))
    const { gone } = await untilRunning(server)
    waiting.kill('SIGKILL')
    await expect(gone).resolves.toBeDefined()
  })

  it('ends when the process that runs it is killed', async () => {
    await using stack = new AsyncDisposableStack()
    const { server, path } = await listen(stack)
    const run = runFixture(fixture, { HANGING_SOCKET: path })
    const { runner, gone } = await untilRunning(server)
    process.kill(runner, 'SIGKILL')
    await expect(gone).resolves.toBeDefined()
    expect((await run).exitCode).toBe(1)
  })

  it('ends when the test that waits for it is out of time', async () => {
    await using stack = new AsyncDisposableStack()
    const { server, path } = await listen(stack)
    const test = new AbortController()
    const run = runFixture(fixture, { HANGING_SOCKET: path }, { signal: test.signal })
    const { gone } = await untilRunning(server)
    test.abort()
    await expect(gone).resolves.toBeDefined()
    expect((await run).exitCode).toBe(1)
  })
})
