import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'

/** Runs a program of which `body` is what is run until the signal; kills it as soon as it says `ready`. */
async function run(
  body: string,
  signal?: NodeJS.Signals,
): Promise<{ readonly code: number; readonly log: string }> {
  const program = `
    import { createLogger, runUntilSignal } from '${import.meta.dirname}/index.ts'
    const log = createLogger({ app: 'test', verbosity: 0 })
    await runUntilSignal(log, async (signal) => { ${body} })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
    if (signal !== undefined && text.includes('ready')) child.kill(signal)
  })
  const [code] = await once(child, 'close')
  return { code: Number(code), log }
}

const untilAborted = `
  const { promise, resolve } = Promise.withResolvers()
  const keptAlive = setInterval(() => undefined, 1000)
  signal.addEventListener('abort', resolve)
  log.info('ready')
  await promise
  clearInterval(keptAlive)
  log.info('given up')`

it.each(['SIGTERM', 'SIGINT'] as const)('gives up in good order on %s', async (signal) => {
  const { code, log } = await run(untilAborted, signal)
  expect(code).toBe(0)
  expect(log).toContain('given up')
})

it('ends with 1 when the program fails, and says why', async () => {
  const { code, log } = await run(`throw new Error('no way')`)
  expect(code).toBe(1)
  expect(log).toContain('"process failed"')
  expect(log).toContain('no way')
})

it('ends with 1 on a rejection that nobody handles', async () => {
  const { code, log } = await run(`
    void Promise.reject(new Error('forgotten'))
    await new Promise(() => setInterval(() => undefined, 1000))`)
  expect(code).toBe(1)
  expect(log).toContain('rejection was not handled')
})
