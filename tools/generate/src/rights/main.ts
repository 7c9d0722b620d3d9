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
import { placedRulesOf, renderConditional, renderRules } from './rules.ts'

const path = 'helm/kube-ovn/templates/rbac.yaml'
const begin =
  '  # Generated from what the features of the controller declare: node tools/generate/src/rights/main.ts\n'

const present = readFileSync(join(root, path), 'utf8')
const { cluster, conditional, namespace } = placedRulesOf(declarationsOf(controlFeatures), ownRights)
// The ClusterRole stands before the Role of the own namespace.
const [head = '', ...marked] = present.split(begin)
const all = [renderRules(cluster) + renderConditional(conditional), renderRules(namespace)]
const parts = all.map((text, index) => {
  const part = marked[index] ?? ''
  return `${text}${part.slice(part.indexOf('---\n'))}`
})
writeGenerated('rights', path, [head, ...parts].join(begin))
