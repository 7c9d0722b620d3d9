import type { LbRule } from '@kube-ovn/kube-api'
import type { Desired } from '@kube-ovn/reconcile'
import { desiredRule, type ServicePlan } from '../lb-rules/index.ts'
import type { LbRuleKind } from '../services/index.ts'

/** What is written of a rule of which nothing was made yet. */
export function madeOfRule(kind: LbRuleKind, object: LbRule, plan: ServicePlan): Desired {
  const { name } = object.metadata
  const nothing = { service: undefined, endpoints: undefined, made: { services: [], endpoints: [] } }
  const facts = { isWithdrawn: false, problem: undefined, observed: { observedGeneration: 1 }, now: 0 }
  return desiredRule({ kind, name, object, plan, ...nothing, ...facts })
}
