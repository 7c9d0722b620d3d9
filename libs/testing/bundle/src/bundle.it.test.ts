import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFixture, type FixtureRun } from './run-fixture.ts'

let directory: string
let run: FixtureRun
let folders: readonly string[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-bundle-'))
  run = await runFixture(join(import.meta.dirname, 'failing.fixture.ts'), {
    KUBE_OVN_TEST_RESULTS: directory,
  })
  folders = (await readdir(join(directory, 'failed'))).sort()
})

afterAll(() => rm(directory, { recursive: true, force: true }))

async function folderOf(part: string): Promise<{ readonly path: string; readonly files: readonly string[] }> {
  const path = join(directory, 'failed', folders.find((folder) => folder.includes(part)) ?? part)
  return { path, files: (await readdir(path, { recursive: true })).sort() }
}

describe('a failing test', () => {
  it('leaves what its sources yield, its error, and the errors of sources that failed', async () => {
    const { path, files } = await folderOf('a-suite-fails-with-odd-characters')
    expect(files).toEqual(['broken.error.txt', 'failure.txt', 'world', 'world/state.txt'])
    expect(await readFile(join(path, 'world/state.txt'), 'utf8')).toBe('seen: the end')
    expect(await readFile(join(path, 'failure.txt'), 'utf8')).toContain(
      "expected 'the end' to be 'something else'",
    )
    expect(await readFile(join(path, 'broken.error.txt'), 'utf8')).toContain('there is no world')
  })

  it('prints where', async () => {
    expect(run.exitCode).toBe(1)
    const { path } = await folderOf('a-suite-fails-with-odd-characters')
    expect(run.output).toContain(`what there was when the test failed: ${path}\n`)
  })

  it('leaves it also when it runs out of time', async () => {
    const { path } = await folderOf('a-suite-runs-out-of-time')
    expect(await readFile(join(path, 'world/state.txt'), 'utf8')).toBe('seen: no end')
  })
})

it('leaves one for a set-up that throws, with the details of its error, and none for a test that passes', async () => {
  const { path, files } = await folderOf('a-set-up')
  expect(files).toEqual(['failure.txt', 'state.txt'])
  expect(await readFile(join(path, 'failure.txt'), 'utf8')).toContain("{ address: '10.16.0.9' }")
  expect(folders).toHaveLength(3)
})
