import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

/** Runs a program that prints its port, with these arguments. */
async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const program = `
    import { processConfig, wholeNumber } from '${import.meta.dirname}/index.ts'
    const port = wholeNumber(1, 'Port.', { environment: 'PORT' })
    const config = processConfig({ name: 'demo', summary: 'Demonstrates.', examples: [], settings: { port } })
    process.stdout.write(String(config.port))`
  // Where a program has its own file's name.
  const argv = ['demo', ...args]
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, '--', ...argv], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: Number(code), stdout, stderr }
}

it.each([
  [['--port=2'], { PORT: '3' }, { code: 0, stdout: '2', stderr: '' }],
  [[], { PORT: '3' }, { code: 0, stdout: '3', stderr: '' }],
  [['--help'], {}, { code: 0, stdout: expect.stringContaining('--port'), stderr: '' }],
  [
    [],
    { PORT: 'many' },
    { code: 2, stdout: '', stderr: 'demo: invalid PORT "many": write a whole number\n' },
  ],
  [['--port'], {}, { code: 2, stdout: '', stderr: 'demo: invalid --port: write --port=VALUE\n' }],
])('answers %j and %j', { timeout: 30_000 }, async (args, environment, outcome) => {
  expect(await run(args, environment)).toEqual(outcome)
})
