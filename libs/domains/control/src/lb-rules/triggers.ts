import type { KubeObject, ObjectChange } from '@kube-ovn/kube'
import type { LbRule } from '@kube-ovn/kube-api'
import { endpoints, endpointSlices, namespaces, services, type Namespace } from '@kube-ovn/kube-api/core'
import type { Trigger } from '@kube-ovn/reconcile'
import type { Needs } from '../declarations.ts'
import { ruleOf, ruleOfName, type LbRuleKind } from '../services/made-services.ts'
import { serviceVpcs } from '../services/service-vpcs.ts'
import { takenFrontends } from '../services/taken-frontends.ts'
import { servicesOf, sliceWatch, type KeptSlice } from '../services/slices.ts'
import { endpointsWatch, serviceWatch } from '../services/watches.ts'
import type { ControlWorld } from '../world.ts'
import { namespaceOf } from './plan.ts'
import type { RuleSource } from './snapshot.ts'
import { writtenOfRule } from './written.ts'

/** What whoever serves rules of a kind needs. */
export function ruleNeeds(kind: LbRuleKind) {
  const { service, endpoints: made, rule } = writtenOfRule(kind)
  return {
    watches: [serviceWatch, sliceWatch, endpointsWatch],
    tables: [serviceVpcs, takenFrontends],
    rights: [
      { resource: services, verbs: ['create', 'patch', 'delete'], writes: [service] },
      { resource: endpoints, verbs: ['create', 'patch', 'delete'], writes: [made] },
      { resource: kind.resource, subresource: 'status', verbs: ['patch'], writes: [rule] },
    ],
  } as const satisfies Needs
}

/** What concerns a rule: itself, what was made of it, its backends and its namespace. */
export function ruleTriggers<R extends LbRule>(
  source: RuleSource<R>,
): readonly Trigger<string, ControlWorld>[] {
  const { kind } = source
  return [
    { on: 'object', resource: kind.resource, keys: (change) => [change.key] },
    { on: 'object', resource: services, keys: (change) => madeOf(kind, change) },
    { on: 'object', resource: endpoints, keys: (change) => madeOf(kind, change) },
    {
      on: 'object',
      resource: endpointSlices,
      keys: ({ old, new: current }: ObjectChange<KeptSlice>) =>
        new Set(
          [old, current].flatMap((slice) =>
            slice === undefined ? [] : servicesOf(slice).flatMap((key) => ruleOfKey(kind, key)),
          ),
        ),
    },
    {
      on: 'object',
      resource: namespaces,
      keys: ({ key, old, new: current }: ObjectChange<Namespace>, world) =>
        isThere(old) === isThere(current)
          ? []
          : source
              .rules(world)
              .scan()
              .filter(({ spec = {} }) => namespaceOf(spec) === key)
              .map(({ metadata }) => metadata.name),
    },
  ]
}

/** The rule of which something was made, or would be of this name. */
function madeOf(kind: LbRuleKind, { old, new: current }: ObjectChange): ReadonlySet<string> {
  const objects = [old, current].filter((object) => object !== undefined)
  return new Set(
    objects.flatMap((object) =>
      [ruleOf(kind, object), ruleOfName(kind, object.metadata.name)].filter((rule) => rule !== undefined),
    ),
  )
}

function ruleOfKey(kind: LbRuleKind, key: string): readonly string[] {
  const rule = ruleOfName(kind, key.slice(key.indexOf('/') + 1))
  return rule === undefined ? [] : [rule]
}

function isThere(object: KubeObject | undefined): boolean {
  return object !== undefined && object.metadata.deletionTimestamp === undefined
}
