import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'
import { spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'

class TestError extends KubeOvnError<{ size: bigint }> {
  readonly code = 'test'
  readonly retry: RetryClass = 'backoff'
}

function logged(
  verbosity: number,
  write: (log: ReturnType<typeof createLogger>) => void,
): readonly unknown[] {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'kube-ovn-log-'))
  const file = join(directory.path, 'sub', 'controller.log')
  write(createLogger({ app: 'controller', verbosity, file }))
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}

it('writes one object a line, with the time as text', () => {
  const [line] = logged(0, (log) =>
    log.child({ feature: 'subnet' }).info('rows committed', { key: 'blue', inserted: 1 }),
  )
  expect(line).toEqual({
    level: 'info',
    app: 'controller',
    feature: 'subnet',
    key: 'blue',
    inserted: 1,
    msg: 'rows committed',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  })
})

it('includes debug lines from verbosity 4 on', () => {
  const write = (log: ReturnType<typeof createLogger>): void => {
    log.debug('key waits for rows')
    log.warn('key failed')
  }
  expect(logged(3, write)).toMatchObject([{ level: 'warn' }])
  expect(logged(4, write)).toMatchObject([{ level: 'debug' }, { level: 'warn' }])
})

it('tells an expected error by its fields and a defect by its stack', () => {
  const cause = new TypeError('a defect')
  const [line] = logged(0, (log) =>
    log.error('key failed', { err: new TestError('cannot be', { size: 5n }, { cause }) }),
  )
  expect(line).toMatchObject({
    err: {
      code: 'test',
      message: 'cannot be',
      details: { size: 5 },
      cause: { message: 'a defect', stack: expect.stringContaining('TypeError') },
    },
  })
  expect(line).not.toHaveProperty('err.stack')
})

it('tells the level and size of each line', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'kube-ovn-log-'))
  const file = join(directory.path, 'controller.log')
  const counted: [string, number][] = []
  const log = createLogger({
    app: 'controller',
    verbosity: 0,
    file,
    onLine: (level, bytes) => void counted.push([level, bytes]),
  })
  log.warn('key failed', { key: 'ü' })
  log.debug('not written')
  expect(counted).toEqual([['warn', readFileSync(file).length]])
})

it.each([
  ['a full disk', '/dev/full', 'ENOSPC'],
  ['a file that can not be made', '/dev/null/agent.log', 'EEXIST'],
])('says on standard error what %s does not take, and goes on', (_what, file, errno) => {
  const program = `
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'logger.ts'))}
    const file = ${JSON.stringify(file)}
    const log = createLogger({ app: 'controller', verbosity: 0, file })
    log.info('one')
    log.info('two')
    createLogger({ app: 'controller', verbosity: 0, file, alsoToStderr: true }).info('three')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg: string })
  const refusal = 'log file is not written'
  expect([status, lines.map(({ msg }) => msg)]).toEqual([0, [refusal, 'one', 'two', 'three', refusal]])
  expect(lines[0]).toMatchObject({
    level: 'error',
    path: file,
    err: { message: expect.stringContaining(errno) },
  })
})
