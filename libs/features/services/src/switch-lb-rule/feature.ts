import type { KubeObject, ObjectChange } from '@kube-ovn/kube'
import { ipResource, vipResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import {
  desiredRule,
  observeRule,
  ruleNeeds,
  ruleTriggers,
  type RuleSnapshot,
} from '@kube-ovn/domains-control/lb-rules'
import { cidrsOf } from '@kube-ovn/domains-control/topology'
import { contains } from '@kube-ovn/ip'
import { writtenVips } from './plan.ts'
import { source } from './source.ts'

/** Makes a Service of each SwitchLBRule, under an address of its user's choice. */
export const switchLbRule: ControlFeature<string, RuleSnapshot> = {
  ...ruleNeeds(source.kind),
  name: 'switch-lb-rule',
  kinds: [],
  triggers: [
    ...ruleTriggers(source),
    // Who has the address that a rule is to have.
    { on: 'object', resource: vipResource, keys: (change, world) => insideOf(subnetOf(change), world) },
    { on: 'object', resource: ipResource, keys: (change, world) => insideOf(subnetOf(change), world) },
    { on: 'signal', signal: 'addresses', keys: (subnet, world) => insideOf([subnet], world) },
    { on: 'signal', signal: 'usage', keys: (subnet, world) => insideOf([subnet], world) },
  ],
  observe: (name, world) => observeRule(source, name, world),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredRule(snapshot)),
}

/** Subnets that an IP object or a Vip is about, before and after. */
function subnetOf({
  old,
  new: current,
}: ObjectChange<KubeObject & { readonly spec?: { readonly subnet?: string } }>): readonly string[] {
  return [old, current].flatMap((object) => object?.spec?.subnet ?? [])
}

/** Rules whose addresses are inside of subnets. */
function insideOf(subnets: readonly string[], world: ControlWorld): readonly string[] {
  const rules = [...world.switchLbRules.scan()]
  if (rules.length === 0) return []
  const cidrs = [...new Set(subnets)].flatMap((subnet) => {
    const network = world.prefixes.get(subnet)
    return network === undefined ? [] : cidrsOf(network)
  })
  return rules
    .filter((rule) => writtenVips(rule).some((ip) => cidrs.some((cidr) => contains(cidr, ip))))
    .map(({ metadata }) => metadata.name)
}
