import { apiVersion, routerLbRuleResource, switchLbRuleResource, type LbRule } from '@kube-ovn/kube-api'
import type { KubeObject, Resource } from '@kube-ovn/kube'

/** A kind of rules of which Services are made. */
export interface LbRuleKind {
  readonly resource: Resource<LbRule>
  /** Of the names of these Services, before that of the rule. */
  readonly prefix: string
}

export const lbRuleKinds = {
  switch: { resource: switchLbRuleResource, prefix: 'slr-' },
  router: { resource: routerLbRuleResource, prefix: 'rlr-' },
} as const satisfies Readonly<Record<string, LbRuleKind>>

const allKinds: readonly LbRuleKind[] = Object.values(lbRuleKinds)

/** Name of the Service that is made of a rule, and of its Endpoints. */
export function ruleServiceName({ prefix }: Pick<LbRuleKind, 'prefix'>, rule: string): string {
  return `${prefix}${rule}`
}

/** The rule of a kind of which something of this name would be made. */
export function ruleOfName({ prefix }: Pick<LbRuleKind, 'prefix'>, name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** Whether something of this name would be made of a rule of some kind. */
export function isRuleServiceName(name: string): boolean {
  return allKinds.some((kind) => ruleOfName(kind, name) !== undefined)
}

/** The rule of a kind of which an object was made, by what the object says of its owners. */
export function ruleOf(
  { resource: { kind } }: LbRuleKind,
  { metadata: { ownerReferences } }: KubeObject,
): string | undefined {
  return ownerReferences?.find((owner) => owner.kind === kind && owner.apiVersion === apiVersion)?.name
}

/** What an object was made of, as the name of the Service of that rule. */
export function rulesOf(object: KubeObject): readonly string[] {
  return allKinds.flatMap((kind) => {
    const rule = ruleOf(kind, object)
    return rule === undefined ? [] : [ruleServiceName(kind, rule)]
  })
}
