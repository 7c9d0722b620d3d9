import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import { expect, it } from 'vitest'
import { repository } from './workspace.ts'

/** What a suite does when it has the case. */
const cases = {
  create: /\.create\w*\(/,
  change: /\.(?:patch|edit|annotate|label|renumber)\w*\(/,
  delete: /\.remove\w*\(/,
  restart: /\bstart(?:Controller|Settled|WithBlue)\([^]*\bstart(?:Controller|Settled)\(/,
  counts: /\.costs\(\)/,
} as const

/** Those of features that own rows. */
const casesOfRows = {
  drift: /nbctl\(\s*\.{0,3}\[?'(?:set|destroy|remove|clear|ls|lr|lsp|pg|lrp)[\w-]*'/,
  'foreign row': /foreign|stranger|somebody|of others/i,
} as const

/** What only changes in the Northbound and a start with other flags bring about has no object that comes, changes and goes. */
const casesOfObjects: readonly string[] = ['create', 'change', 'delete']

it.each(controlFeatures)(
  'the suite of $name has the cases that every feature’s has',
  ({ name, kinds, memberships = [], triggers }) => {
    const [folder = ''] = globSync(`libs/features/*/src/${name}/feature.ts`, { cwd: repository }).map(dirname)
    const text = globSync(`${folder}/*.it.test.ts`, { cwd: repository })
      .map((path) => readFileSync(join(repository, path), 'utf8'))
      .join('\n')
    const hasNoObjects = triggers.length > 0 && triggers.every(({ on }) => on === 'row')
    const writesRows = kinds.length + memberships.length > 0 || hasNoObjects
    const missing = Object.entries(writesRows ? { ...cases, ...casesOfRows } : cases)
      .filter(([title]) => !hasNoObjects || !casesOfObjects.includes(title))
      .filter(([, pattern]) => !pattern.test(text))
    expect(missing.map(([title]) => title)).toEqual([])
  },
)
