import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { Container } from './container.ts'
import { connectEngine, hasContainer, untilRemoved } from './engine.ts'
import { startNorthbound } from './northbound.ts'

interface Other {
  readonly child: ChildProcess
  /** What the program printed, a line a time. */
  readonly lines: AsyncIterator<string>
}

/** Runs a program beside this process, as another worker or another run of the tests would. */
function runOther(stack: DisposableStack, program: string, env: NodeJS.ProcessEnv = {}): Other {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stack.defer(() => void child.kill('SIGKILL'))
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
}

async function nextLine({ lines }: Other): Promise<string> {
  return String((await lines.next()).value)
}

it('is gone when it is disposed', async () => {
  const container = await Container.start()
  expect(await hasContainer(container.name)).toBe(true)
  await container[Symbol.asyncDispose]()
  expect(await hasContainer(container.name)).toBe(false)
})

it('can be disposed when somebody has removed it', async () => {
  await using container = await Container.start()
  const engine = await connectEngine()
  await engine.container.getById(container.name).remove({ force: true })
  expect(await hasContainer(container.name)).toBe(false)
})

it('tells another process nothing, and goes away when its own is killed', async () => {
  using stack = new DisposableStack()
  await using ours = await startNorthbound()
  await ours.nbctl('ls-add', 'ours')
  const other = runOther(
    stack,
    `
      import { Container } from './container.ts'
      import { startNorthbound } from './northbound.ts'
      const northbound = await startNorthbound()
      await northbound.nbctl('ls-add', 'theirs')
      console.log(await northbound.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch'))
      for (const { name } of await Promise.all([Container.start(), Container.start()])) console.log(name)
    `,
  )
  expect(await nextLine(other)).toBe('theirs')
  const names = [await nextLine(other), await nextLine(other)]
  expect(await Promise.all(names.map(hasContainer))).toEqual([true, true])
  const kill = (): void => void other.child.kill('SIGKILL')
  const exit = once(other.child, 'exit')
  await Promise.all(names.map((name) => untilRemoved(name, kill)))
  await exit
  expect(await ours.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')).toBe('ours')
})

it('is removed by the next process when its own was killed before it was started', async () => {
  using stack = new DisposableStack()
  const killed = runOther(
    stack,
    `
      import { HeldContainer } from './held-container.ts'
      import { ensureImage } from './image.ts'
      class Doomed extends HeldContainer {
        async containerCreated(id) {
          await super.containerCreated(id)
          process.stdout.write(id + '\\n', () => process.kill(process.pid, 'SIGKILL'))
          await new Promise(() => undefined)
        }
      }
      await new Doomed(await ensureImage()).withCommand(['cat']).start()
    `,
  )
  const exit = once(killed.child, 'exit')
  const id = await nextLine(killed)
  expect(await exit).toEqual([null, 'SIGKILL'])
  const next = runOther(
    stack,
    `
      import { Container } from './container.ts'
      await using container = await Container.start()
    `,
  )
  expect(await once(next.child, 'exit')).toEqual([0, null])
  expect(await hasContainer(id)).toBe(false)
})

it('is not started without an engine, whose absence is told in a sentence', async () => {
  using stack = new DisposableStack()
  const program = `
    import { startNorthbound } from './northbound.ts'
    await startNorthbound().catch(({ code, message }) => console.log(code, message))
  `
  const other = runOther(stack, program, { DOCKER_HOST: 'unix:///nowhere/docker.sock' })
  expect(await nextLine(other)).toBe(
    'testing-no-docker-engine no Docker engine answers at unix:///nowhere/docker.sock (ENOENT): install and start Docker ' +
      '(apt-get install docker.io; systemctl start docker), or set DOCKER_HOST to the socket of an engine of this machine',
  )
})
