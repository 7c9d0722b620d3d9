import { problemText } from '@kube-ovn/errors'
import {
  apiVersion,
  conditionType,
  setCondition,
  switchLbRuleResource,
  vpcDnsReason,
  vpcDnsResource,
  withObservedGeneration,
  type Condition,
} from '@kube-ovn/kube-api'
import { configMaps, deployments, type OwnerReference } from '@kube-ovn/kube-api/core'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { VpcDnsNotServedError, VpcDnsOffError, VpcDnsTakenError } from './errors.ts'
import type { DnsPlan } from './plan.ts'
import type { DnsSnapshot, Made } from './snapshot.ts'
import { corefileOf, deploymentOf, ruleOf } from './workload.ts'

/** Computes the name servers of a VpcDns, and the rule that leads to them. They belong to it, so that they go with it. */
export function desiredDns(dns: DnsSnapshot): Desired {
  const { object, plan, problem, made } = dns
  if (object === undefined) return { ...nothing, patches: removals(made) }
  const owner = { apiVersion, kind: vpcDnsResource.kind, name: dns.name, uid: object.metadata.uid ?? '' }
  // Pods come and go, and whoever switches something off knows.
  const isTold = problem !== undefined && !isNoFault(problem)
  return {
    ...nothing,
    events: isTold ? eventsOf(dns) : [],
    ...(isTold ? { problem } : {}),
    // Before all else, so that what is refused there is refused after all is said.
    patches: [statusPatch(dns), ...(plan === undefined ? gone(dns) : wanted(plan, owner, made))],
  }
}

function isNoFault(problem: NonNullable<DnsSnapshot['problem']>): boolean {
  return problem instanceof VpcDnsNotServedError || problem instanceof VpcDnsOffError
}

/** What was made stays while an edit can not be used. */
function gone({ problem, made }: DnsSnapshot): readonly KubePatch[] {
  const isOver = problem instanceof VpcDnsOffError || problem instanceof VpcDnsTakenError
  return isOver ? removals(made) : []
}

function removals(made: readonly Made[]): readonly KubePatch[] {
  return made.map((one) => ({ ...one, remove: true }))
}

function wanted(plan: DnsPlan, owner: OwnerReference, made: readonly Made[]): readonly KubePatch[] {
  const { namespace, name } = plan
  const corefile: readonly KubePatch[] = plan.makesCorefile
    ? [{ resource: configMaps, namespace, name, apply: corefileOf(plan, owner) }]
    : removals(made.filter(({ resource }) => resource === configMaps))
  return [
    ...corefile,
    { resource: deployments, namespace, name, apply: deploymentOf(plan, owner) },
    { resource: switchLbRuleResource, name, apply: ruleOf(plan, owner) },
  ]
}

function statusPatch(dns: DnsSnapshot): KubePatch {
  const { name, observed, now } = dns
  const conditions = withObservedGeneration(conditionsOf(dns), observed.observedGeneration, now)
  return {
    resource: vpcDnsResource,
    name,
    subresource: 'status',
    merge: {
      status: { ...observed, active: isActive(dns), conditions: conditions.map((one) => ({ ...one })) },
    },
  }
}

function isActive(dns: DnsSnapshot): boolean {
  return dns.plan !== undefined || (dns.made.length > 0 && gone(dns).length === 0)
}

function conditionsOf({ object, problem, now }: DnsSnapshot): readonly Condition[] {
  const before = object?.status?.conditions ?? []
  if (problem === undefined) {
    const reason = vpcDnsReason.served
    return setCondition(before, { type: conditionType.ready, status: 'True', reason }, now)
  }
  const told = { reason: reasonOf(problem), message: problemText(problem) }
  return setCondition(before, { type: conditionType.ready, status: 'False', ...told }, now)
}

function reasonOf(problem: NonNullable<DnsSnapshot['problem']>): string {
  if (problem instanceof VpcDnsNotServedError) return vpcDnsReason.notServed
  if (problem instanceof VpcDnsOffError) return vpcDnsReason.off
  return problem instanceof VpcDnsTakenError ? vpcDnsReason.vpcTaken : vpcDnsReason.notAsWritten
}

/** Tells the user once, when the problem appears: afterwards the condition holds it. */
function eventsOf({ object, name, problem }: DnsSnapshot): readonly KubeEvent[] {
  const uid = object?.metadata.uid
  if (uid === undefined || problem === undefined) return []
  const message = problemText(problem)
  const isKnown = object?.status?.conditions?.some(
    (condition) => condition.type === conditionType.ready && condition.message === message,
  )
  if (isKnown === true) return []
  const regarding = { resource: vpcDnsResource, name, uid }
  return [{ regarding, type: 'Warning', reason: reasonOf(problem), message }]
}
