import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import {
  desiredRule,
  observeRule,
  ruleNeeds,
  ruleTriggers,
  type RuleSnapshot,
} from '@kube-ovn/domains-control/lb-rules'
import { serviceCidrTable, serviceCidrWatch } from '@kube-ovn/domains-control/topology'
import { source } from './source.ts'

const needs = ruleNeeds(source.kind)

/** Makes a Service of each RouterLBRule, under the addresses of an OvnEip. */
export const routerLbRule: ControlFeature<string, RuleSnapshot> = {
  ...needs,
  name: 'router-lb-rule',
  kinds: [],
  watches: [...needs.watches, serviceCidrWatch],
  tables: [...needs.tables, serviceCidrTable],
  triggers: ruleTriggers(source),
  observe: (name, world) => observeRule(source, name, world),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredRule(snapshot)),
}
