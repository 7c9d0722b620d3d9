import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('names a group that is not there, and those that are, before it starts anything', () => {
  const main = join(import.meta.dirname, 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'base', 'nowhere'], {
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^there are no cases nowhere\n→ a folder, or a group of base, .*pods.*\n$/)
})
