import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assembleContext, contextHash } from './content.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-content-'))
  await mkdir(join(directory, 'scripts'))
  await writeFile(join(directory, 'scripts/a.sh'), 'a')
  await writeFile(join(directory, 'node'), 'large')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('contextHash', () => {
  function hash(buildArguments: Readonly<Record<string, string>> = {}, identity = 'v26'): Promise<string> {
    const entries = [
      { from: join(directory, 'scripts'), to: '.' },
      { from: join(directory, 'node'), to: 'node', identity },
    ]
    return contextHash(entries, buildArguments)
  }

  it('stays while nothing changes, and does not read what is known by its version', async () => {
    const before = await hash()
    await writeFile(join(directory, 'node'), 'other')
    expect(await hash()).toBe(before)
  })

  it('changes with a content, a mode, a file more, a version and an argument', async () => {
    const seen = new Set([await hash()])
    await writeFile(join(directory, 'scripts/a.sh'), 'b')
    seen.add(await hash())
    await chmod(join(directory, 'scripts/a.sh'), 0o755)
    seen.add(await hash())
    await writeFile(join(directory, 'scripts/b.sh'), '')
    seen.add(await hash())
    seen.add(await hash({}, 'v27'))
    seen.add(await hash({ RUNTIME: 'r' }))
    expect(seen.size).toBe(6)
  })
})

it('copies files and directories to where the context wants them', async () => {
  const target = join(directory, 'context')
  await assembleContext(
    [
      { from: join(directory, 'scripts'), to: '.' },
      { from: join(directory, 'node'), to: 'bin/node' },
    ],
    target,
  )
  expect(await readFile(join(target, 'a.sh'), 'utf8')).toBe('a')
  expect(await readFile(join(target, 'bin/node'), 'utf8')).toBe('large')
})
