import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFixture } from '@kube-ovn/testing-bundle/fixture'
import { expect, it } from 'vitest'
import { failuresVariable, type Failure } from './failure-reporter.ts'

it('writes down hooks and tests that failed, with details and causes, and what nobody caught', async ({
  signal,
}) => {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-run-'))
  try {
    const path = join(directory, 'failures.json')
    const fixture = join(import.meta.dirname, 'failing.fixture.ts')
    const reporters = [join(import.meta.dirname, 'failure-reporter.ts')]
    const { exitCode } = await runFixture(fixture, { [failuresVariable]: path }, { signal, reporters })
    expect(exitCode).toBe(1)
    const failures = JSON.parse(await readFile(path, 'utf8')) as readonly Failure[]
    expect(failures.map(({ what }) => what)).toEqual([
      'failing.fixture.ts: a group (a hook)',
      'failing.fixture.ts: compares',
      'an error that nobody caught',
    ])
    const [hook, test, uncaught] = failures.map(({ why }) => why)
    expect(hook).toContain('TooLate: something did not happen in time')
    expect(hook).toContain('{"what":"four pods ready","seen":"ErrImageNeverPull"}')
    expect(hook).toContain('failing.fixture.ts:11')
    expect(hook).toContain('caused by Error: aborted')
    expect(test).toContain('"a": 2')
    expect(uncaught).toContain('nobody waits')
  } finally {
    await rm(directory, { recursive: true })
  }
})
