import { AnnotationInvalidError } from '@kube-ovn/annotations'
import { backendsOf } from '@kube-ovn/endpoints'
import { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, formatIp } from '@kube-ovn/ip'
import type { LbRule } from '@kube-ovn/kube-api'
import type { Endpoints, Service, ServicePort } from '@kube-ovn/kube-api/core'
import { observedOf, type Observed } from '../generation.ts'
import { ruleOf, ruleServiceName, type LbRuleKind } from '../services/made-services.ts'
import { serviceProblem } from '../services/problems.ts'
import { serviceVpcs, type ServiceVpc } from '../services/service-vpcs.ts'
import { takenFrontends } from '../services/taken-frontends.ts'
import { slicesOf, sliceWatch } from '../services/slices.ts'
import { endpointsWatch, madeByRule, serviceWatch } from '../services/watches.ts'
import type { ControlWorld } from '../world.ts'
import { LbRuleAddressError, LbRuleBackendsError, LbRuleHeldError, LbRuleInvalidError } from './errors.ts'
import type { ServicePlan } from './plan.ts'

/** Where rules of a kind come from, and what is particular about them. */
export interface RuleSource<R extends LbRule = LbRule> {
  readonly kind: LbRuleKind
  /** Annotation of a Service that has the addresses. One that the original made tells no owner, and is known by it. */
  readonly annotation: { readonly key: string }
  /** Whether each address needs backends of its family, or one of two is enough. */
  readonly needs: 'every family' | 'some family'
  rules(world: ControlWorld): { get(name: string): R | undefined; scan(): readonly R[] }
  /** @throws KubeOvnError that says why there can be no Service */
  planOf(rule: R, world: ControlWorld): ServicePlan
  /** What is not as its user wants it, though there is a Service. */
  problemOf(
    plan: ServicePlan,
    rule: R,
    decided: ServiceVpc | undefined,
    world: ControlWorld,
  ): KubeOvnError | undefined
}

/** What decides about a rule. */
export interface RuleSnapshot {
  readonly kind: LbRuleKind
  readonly name: string
  /** Absent when it is gone, or on its way out. */
  readonly object: LbRule | undefined
  /** Absent while it can not be as it is written. */
  readonly plan: ServicePlan | undefined
  /** Nothing is to be left of what was made. */
  readonly isWithdrawn: boolean
  /** What is in the place of the Service and the Endpoints. */
  readonly service: Service | undefined
  readonly endpoints: Endpoints | undefined
  /** Everything that was made of the rule, wherever it is. */
  readonly made: { readonly services: readonly Service[]; readonly endpoints: readonly Endpoints[] }
  readonly problem: KubeOvnError | undefined
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Reads a rule and what was made of it; nothing when there is neither. */
export function observeRule<R extends LbRule>(
  source: RuleSource<R>,
  name: string,
  world: ControlWorld,
): RuleSnapshot | undefined {
  const { kind } = source
  const found = source.rules(world).get(name)
  const object =
    found?.metadata.deletionTimestamp === undefined && world.settings.enableLb ? found : undefined
  const of = ruleServiceName(kind, name)
  const made = {
    services: world.store(serviceWatch).find(madeByRule, of),
    endpoints: world.store(endpointsWatch).find(madeByRule, of),
  }
  const observed = observedOf(kind.resource, found, world)
  const facts = { kind, name, object, made, observed, now: world.now() }
  const none = {
    ...{ plan: undefined, service: undefined, endpoints: undefined, problem: undefined },
    isWithdrawn: false,
  }
  if (object === undefined)
    return made.services.length + made.endpoints.length === 0 ? undefined : { ...facts, ...none }
  try {
    const plan = source.planOf(object, world)
    const key = `${plan.namespace}/${plan.name}`
    const service = world.store(serviceWatch).get(key)
    checkPlace(plan, service, source, world)
    const endpoints = world.store(endpointsWatch).get(key)
    const problem = problemOf(source, plan, object, world)
    return { ...facts, plan, service, endpoints, isWithdrawn: false, problem }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, ...none, isWithdrawn: error instanceof LbRuleAddressError, problem: error }
  }
}

/** @throws LbRuleInvalidError where there can be no Service */
function checkPlace(
  { namespace, name }: ServicePlan,
  service: Service | undefined,
  { kind, annotation }: Pick<RuleSource, 'kind' | 'annotation'>,
  world: ControlWorld,
): void {
  const field = 'spec.namespace'
  const found = world.namespaces.get(namespace)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    const cure = 'create the namespace, or write one that is there'
    throw new LbRuleInvalidError({ field, value: namespace, cure })
  }
  if (service === undefined || ruleOf(kind, service) !== undefined) return
  if (service.metadata.annotations?.[annotation.key] !== undefined) return
  throw new LbRuleInvalidError({
    field: 'metadata.name',
    value: name,
    cure: `create the rule anew under another name, or delete the Service ${namespace}/${name}, which is another one`,
  })
}

/** What is not as its user wants it, the worst of it. */
function problemOf<R extends LbRule>(
  source: RuleSource<R>,
  plan: ServicePlan,
  rule: R,
  world: ControlWorld,
): KubeOvnError | undefined {
  const key = `${plan.namespace}/${plan.name}`
  const service = world.store(serviceWatch).get(key)
  const decided = world.table(serviceVpcs).get(key)
  const { deletionTimestamp, finalizers = [] } = service?.metadata ?? {}
  if (deletionTimestamp !== undefined && finalizers.length > 0) return new LbRuleHeldError(key, finalizers)
  if (service === undefined || decided === undefined)
    return source.problemOf(plan, rule, undefined, world) ?? plan.ineffective
  const taken = world.table(takenFrontends).get(key) ?? []
  const problem = serviceProblem(service, decided, taken, [])
  // What the Service says of its addresses is about to be written.
  if (problem !== undefined && !(problem instanceof AnnotationInvalidError)) return problem
  return (
    source.problemOf(plan, rule, decided, world) ??
    plan.ineffective ??
    backendsProblem(source, plan, key, world)
  )
}

function backendsProblem(
  { needs }: Pick<RuleSource, 'needs'>,
  plan: ServicePlan,
  key: string,
  world: ControlWorld,
): KubeOvnError | undefined {
  const slices = slicesOf(key, world.store(sliceWatch))
  const hasNone = (ip: ServicePlan['vips'][number], port: ServicePort) =>
    backendsOf(slices, port, familyOf(ip)).length === 0
  for (const ip of plan.vips) {
    const port = plan.ports.find((one) =>
      needs === 'every family' ? hasNone(ip, one) : plan.vips.every((each) => hasNone(each, one)),
    )
    if (port === undefined) continue
    const bySelector = plan.selector !== undefined
    return new LbRuleBackendsError({
      field: bySelector ? 'spec.selector' : 'spec.endpoints',
      value: bySelector
        ? Object.entries(plan.selector)
            .map((term) => term.join(':'))
            .join(',')
        : plan.endpoints.join(','),
      cure:
        `see that there are ${bySelector ? 'ready Pods with these labels' : 'addresses'} for ${formatIp(ip)} ` +
        `port ${port.port}, of its family, in the namespace ${plan.namespace}`,
    })
  }
  return undefined
}
