import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { programsDirectory } from './paths.ts'
import { buildBundles, bundleNames } from './programs.ts'

beforeAll(buildBundles)

/** For one letter beyond Latin-1 V8 keeps all letters of the text in two bytes each. */
it.each(bundleNames)('%s has no letter beyond Latin-1', async (name) => {
  const text = await readFile(join(programsDirectory, name), 'utf8')
  const at = text.search(/[\u0100-\uffff]/)
  expect(at < 0 ? '' : text.slice(Math.max(0, at - 60), at + 20), 'write it as an escape').toBe('')
})
