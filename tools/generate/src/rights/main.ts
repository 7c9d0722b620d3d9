/**
 * Writes the rights of the controller into the chart, from what its features declare.
 *
 *     node tools/generate/src/rights/main.ts            write
 *     node tools/generate/src/rights/main.ts --check    exit 1 when the rights are stale
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlFeatures, declarationsOf, ownRights } from '@kube-ovn/assembly-controller'
import { flags } from '../flags.ts'
import { renderRules, rulesOf } from './rules.ts'

const path = 'helm/kube-ovn/templates/rbac.yaml'
const file = join(import.meta.dirname, '../../../..', path)
const begin =
  '  # Generated from what the features of the controller declare: node tools/generate/src/rights/main.ts\n'

const present = readFileSync(file, 'utf8')
const start = present.indexOf(begin) + begin.length
const rules = renderRules(rulesOf(declarationsOf(controlFeatures), ownRights))
const wanted = `${present.slice(0, start)}${rules}${present.slice(present.indexOf('---\n', start))}`
if (wanted !== present) {
  if (flags.check) {
    console.error(`${path} is stale: run node tools/generate/src/rights/main.ts`)
    process.exitCode = 1
  } else {
    writeFileSync(file, wanted)
    console.log(`${path} written`)
  }
}
