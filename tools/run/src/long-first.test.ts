import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { longFirst } from './long-first.ts'
import { repository } from './vitest.ts'

it('begins with the files that take minutes, and leaves the others as they are', () => {
  const files = [
    'b.it.test.ts',
    'tools/images/src/ovn-central.it.test.ts',
    'a.it.test.ts',
    'tools/golden/src/golden.it.test.ts',
  ]
  const sorted = longFirst(files, (file) => `/somewhere/${file}`)
  expect(sorted).toEqual([files[3], files[1], 'b.it.test.ts', 'a.it.test.ts'])
  for (const file of sorted.slice(0, 2)) expect(existsSync(join(repository, file))).toBe(true)
})
