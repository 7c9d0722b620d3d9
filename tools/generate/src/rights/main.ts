/**
 * Writes the rights of the controller into the chart, from what its features declare.
 *
 *     node tools/generate/src/rights/main.ts            write
 *     node tools/generate/src/rights/main.ts --check    exit 1 when the rights are stale
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlFeatures, declarationsOf, ownRights } from '@kube-ovn/assembly-controller'
import { root, writeGenerated } from '../generated-file.ts'
import { renderRules, rulesOf } from './rules.ts'

const path = 'helm/kube-ovn/templates/rbac.yaml'
const begin =
  '  # Generated from what the features of the controller declare: node tools/generate/src/rights/main.ts\n'

const present = readFileSync(join(root, path), 'utf8')
const start = present.indexOf(begin) + begin.length
const rules = renderRules(rulesOf(declarationsOf(controlFeatures), ownRights))
const rest = present.slice(present.indexOf('---\n', start))
writeGenerated('rights', path, `${present.slice(0, start)}${rules}${rest}`)
