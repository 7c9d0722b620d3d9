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

/** Errors are called in logs what their class is called: the bundler gives a second class of one name another one. */
it.each(bundleNames)('%s has errors with the names that they have in the sources', async (name) => {
  const text = await readFile(join(programsDirectory, name), 'utf8')
  const classes = [...text.matchAll(/(\w+) ?= ?class(?: (\w+))? extends (\w+)\b/g)]
  const own = new Set(['KubeOvnError'])
  let known = 0
  while (own.size > known) {
    known = own.size
    for (const [, variable = '', inner = variable, parent = ''] of classes) {
      if (own.has(parent)) own.add(variable).add(inner)
    }
  }
  expect(own.size > 1).toBe(text.includes('extends KubeOvnError'))
  expect([...own].filter((one) => !/^[A-Z][A-Za-z]*Error$/.test(one))).toEqual([])
})
