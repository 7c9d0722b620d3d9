import { apiVersion, switchLbRuleResource } from '@kube-ovn/kube-api'
import type { KubeObject } from '@kube-ovn/kube'

const prefix = 'slr-'

/** Name of the Service that is made of a SwitchLBRule, and of its Endpoints. */
export function ruleServiceName(rule: string): string {
  return `${prefix}${rule}`
}

/** The SwitchLBRule of which something of this name would be made. */
export function ruleOfName(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** The SwitchLBRule of which an object was made, by what the object says of its owners. */
export function ruleOf({ metadata: { ownerReferences } }: KubeObject): string | undefined {
  const { kind } = switchLbRuleResource
  return ownerReferences?.find((owner) => owner.kind === kind && owner.apiVersion === apiVersion)?.name
}

export function rulesOf(object: KubeObject): readonly string[] {
  const rule = ruleOf(object)
  return rule === undefined ? [] : [rule]
}
