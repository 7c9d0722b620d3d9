import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import { expect, it } from 'vitest'
import { repository } from './workspace.ts'

/** What a suite does when it has the case. */
const cases = {
  create: /\.create\w*\(/,
  change: /\.(?:patch|edit|annotate|label)\w*\(/,
  delete: /\.remove\w*\(/,
  restart: /\bstart(?:Controller|Settled)\([^]*\bstart(?:Controller|Settled)\(/,
  counts: /\.costs\(\)/,
} as const

/** Those of features that own rows. */
const casesOfRows = {
  drift: /nbctl\(\s*\.{0,3}\[?'(?:set|destroy|remove|clear|ls|lr|lsp|pg|lrp)[\w-]*'/,
  'foreign row': /foreign|stranger|somebody|of others/i,
} as const

const all = [...Object.keys(cases), ...Object.keys(casesOfRows)]

/**
 * Cases that the suites of features before this rule lack; suites of the whole controller have some of them. Nothing may be
 * added, and what a suite has by now has to go.
 */
const lacking: Readonly<Record<string, readonly string[]>> = {
  'nb-options': Object.keys(cases),
  'subnet-status': Object.keys(cases),
  'ip-pool-status': Object.keys(cases),
  sg: all,
  'subnet-gw': all,
  'subnet-vip': all,
  subnet: ['drift'],
  'ip-pool': ['drift'],
  vip: ['drift'],
  node: ['drift', 'foreign row'],
  namespace: ['counts'],
  workload: ['change', 'delete', 'restart', 'counts'],
  ignored: ['delete'],
}

it.each(controlFeatures)('the suite of $name has the cases that every feature’s has', ({ name, kinds }) => {
  const [folder = ''] = globSync(`libs/features/*/src/${name}/feature.ts`, { cwd: repository }).map(dirname)
  const text = globSync(`${folder}/*.it.test.ts`, { cwd: repository })
    .map((path) => readFileSync(join(repository, path), 'utf8'))
    .join('\n')
  const required = Object.entries(kinds.length === 0 ? cases : { ...cases, ...casesOfRows })
  const missing = required.filter(([, pattern]) => !pattern.test(text)).map(([title]) => title)
  expect(missing).toEqual(lacking[name] ?? [])
})
