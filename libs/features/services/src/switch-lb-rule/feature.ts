import {
  endpoints,
  endpointSlices,
  namespaces,
  services,
  type EndpointSlice,
  type Namespace,
} from '@kube-ovn/kube-api/core'
import type { KubeObject, ObjectChange } from '@kube-ovn/kube'
import { ipResource, switchLbRuleResource, vipResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { cidrsOf } from '@kube-ovn/domains-control/topology'
import {
  endpointsWatch,
  ruleOf,
  ruleOfName,
  servicesOf,
  serviceVpcs,
  serviceWatch,
  sliceWatch,
  takenFrontends,
} from '@kube-ovn/domains-control/services'
import { contains } from '@kube-ovn/ip'
import { desiredRule } from './desired.ts'
import { namespaceOf, writtenVips } from './plan.ts'
import { observeRule, type RuleSnapshot } from './snapshot.ts'

/** Makes a Service of each SwitchLBRule, under an address of its user's choice. */
export const switchLbRule: ControlFeature<string, RuleSnapshot> = {
  name: 'switch-lb-rule',
  kinds: [],
  watches: [serviceWatch, sliceWatch, endpointsWatch],
  tables: [serviceVpcs, takenFrontends],
  rights: [
    { resource: services, verbs: ['create', 'patch', 'delete'] },
    { resource: endpoints, verbs: ['create', 'patch', 'delete'] },
    { resource: switchLbRuleResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    { on: 'object', resource: switchLbRuleResource, keys: (change) => [change.key] },
    { on: 'object', resource: services, keys: madeOf },
    { on: 'object', resource: endpoints, keys: madeOf },
    {
      on: 'object',
      resource: endpointSlices,
      keys: ({ old, new: current }: ObjectChange<EndpointSlice>) =>
        new Set(
          [old, current].flatMap((slice) =>
            slice === undefined ? [] : servicesOf(slice).flatMap(ruleOfKey),
          ),
        ),
    },
    {
      on: 'object',
      resource: namespaces,
      keys: ({ key, old, new: current }: ObjectChange<Namespace>, world) =>
        isThere(old) === isThere(current) ? [] : rulesIn(key, world),
    },
    // Who has the address that a rule is to have.
    { on: 'object', resource: vipResource, keys: (change, world) => insideOf(subnetOf(change), world) },
    { on: 'object', resource: ipResource, keys: (change, world) => insideOf(subnetOf(change), world) },
    { on: 'signal', signal: 'addresses', keys: (subnet, world) => insideOf([subnet], world) },
    { on: 'signal', signal: 'usage', keys: (subnet, world) => insideOf([subnet], world) },
  ],
  observe: observeRule,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredRule(snapshot)),
}

/** The rule of which something was made, or would be of this name. */
function madeOf({ old, new: current }: ObjectChange): ReadonlySet<string> {
  const objects = [old, current].filter((object) => object !== undefined)
  return new Set(
    objects.flatMap((object) =>
      [ruleOf(object), ruleOfName(object.metadata.name)].filter((rule) => rule !== undefined),
    ),
  )
}

function ruleOfKey(key: string): readonly string[] {
  const rule = ruleOfName(key.slice(key.indexOf('/') + 1))
  return rule === undefined ? [] : [rule]
}

function isThere(object: KubeObject | undefined): boolean {
  return object !== undefined && object.metadata.deletionTimestamp === undefined
}

function rulesIn(namespace: string, world: ControlWorld): readonly string[] {
  return [...world.switchLbRules.scan()]
    .filter(({ spec = {} }) => namespaceOf(spec) === namespace)
    .map(({ metadata }) => metadata.name)
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
    const network = world.networks.get(subnet)
    return network === undefined ? [] : cidrsOf(network)
  })
  return rules
    .filter((rule) => writtenVips(rule).some((ip) => cidrs.some((cidr) => contains(cidr, ip))))
    .map(({ metadata }) => metadata.name)
}
