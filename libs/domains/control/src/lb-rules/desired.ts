import { endpointsLabel } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { familyOf } from '@kube-ovn/ip'
import type { JsonValue } from '@kube-ovn/kube'
import {
  apiVersion,
  conditionType,
  lbRuleReason,
  setCondition,
  withObservedGeneration,
  type Condition,
} from '@kube-ovn/kube-api'
import {
  endpoints,
  services,
  type Endpoints,
  type OwnerReference,
  type Service,
} from '@kube-ovn/kube-api/core'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { LbRuleBackendsError } from './errors.ts'
import type { ServicePlan } from './plan.ts'
import type { RuleSnapshot } from './snapshot.ts'

/**
 * Computes the Service of a rule, and its Endpoints where the backends are given by their addresses.
 *
 * It is the Service that has entries in load balancers, as any other has. Both belong to the rule, so that they go with it.
 */
export function desiredRule(rule: RuleSnapshot): Desired {
  const { plan, problem, made } = rule
  if (rule.object === undefined) return { ...nothing, patches: [...removals(made.services, made.endpoints)] }
  const told = {
    events: eventsOf(rule),
    // Backends come and go.
    ...(problem === undefined || problem instanceof LbRuleBackendsError ? {} : { problem }),
  }
  if (plan === undefined) {
    const gone = rule.isWithdrawn ? removals(made.services, made.endpoints) : []
    return { ...nothing, ...told, patches: [statusPatch(rule), ...gone] }
  }
  const isPlace = ({ metadata }: Service | Endpoints) =>
    metadata.namespace === plan.namespace && metadata.name === plan.name
  const stale = removals(
    made.services.filter((object) => !isPlace(object)),
    made.endpoints.filter((object) => !isPlace(object) || plan.endpoints.length === 0),
  )
  // Before the Service, so that what is refused there is refused after all else is said.
  return { ...nothing, ...told, patches: [statusPatch(rule), ...stale, ...objectPatches(rule, plan)] }
}

function removals(
  madeServices: readonly Service[],
  madeEndpoints: readonly Endpoints[],
): readonly KubePatch[] {
  const removal =
    (resource: KubePatch['resource']) =>
    ({ metadata: { namespace = '', name } }: Service | Endpoints): KubePatch => ({
      resource,
      namespace,
      name,
      remove: true,
    })
  return [...madeServices.map(removal(services)), ...madeEndpoints.map(removal(endpoints))]
}

function objectPatches(rule: RuleSnapshot, plan: ServicePlan): readonly KubePatch[] {
  const { namespace, name } = plan
  if (rule.service !== undefined && isAnother(rule.service, plan))
    return [{ resource: services, namespace, name, remove: true }]
  return [servicePatch(rule, plan), ...(plan.endpoints.length === 0 ? [] : [endpointsPatch(rule, plan)])]
}

/**
 * Whether a Service can not become the one that is wanted. The API server keeps its first family, and Kubernetes the slices that it made
 * by a selector which is no more.
 */
function isAnother({ spec }: Service, plan: ServicePlan): boolean {
  const hasSelector = Object.keys(spec?.selector ?? {}).length > 0
  return spec?.ipFamilies?.[0] !== familiesOf(plan)[0] || hasSelector !== (plan.selector !== undefined)
}

function familiesOf({ vips }: ServicePlan): readonly ('IPv4' | 'IPv6')[] {
  return vips.map((ip) => (familyOf(ip) === 4 ? 'IPv4' : 'IPv6'))
}

function servicePatch(rule: RuleSnapshot, plan: ServicePlan): KubePatch {
  const { namespace, name } = plan
  const ownerReferences = ownersOf(rule, rule.service?.metadata.ownerReferences)
  const ipFamilies = [...familiesOf(plan)]
  const spec = {
    type: 'ClusterIP' as const,
    sessionAffinity: plan.sessionAffinity,
    ipFamilies,
    ipFamilyPolicy: ipFamilies.length === 2 ? ('PreferDualStack' as const) : ('SingleStack' as const),
    ports: plan.ports.map((port) => ({ ...port })),
  }
  const labels = plan.selector === undefined ? {} : { selector: { ...plan.selector } }
  const known = Object.entries(plan.annotations)
  const annotations = Object.fromEntries(known.map(([key, text]) => [key, text ?? null]))
  const written = Object.fromEntries(
    known.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])),
  )
  return {
    resource: services,
    namespace,
    name,
    merge: {
      metadata: { ownerReferences, annotations },
      spec: { ...spec, ...withoutOthers(plan.selector, rule.service?.spec?.selector) },
    },
    create: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, ownerReferences, annotations: written },
      spec: { ...spec, clusterIP: 'None', ...labels },
    },
  }
}

/** In a merge patch, what a selector is to have no more. */
function withoutOthers(
  wanted: ServicePlan['selector'],
  present: Readonly<Record<string, string>> = {},
): Readonly<Record<string, JsonValue>> {
  if (wanted === undefined) return { selector: null }
  const others = Object.keys(present).filter((key) => !Object.hasOwn(wanted, key))
  return { selector: { ...Object.fromEntries(others.map((key) => [key, null])), ...wanted } }
}

/** Kubernetes makes slices of them, of each family. */
function endpointsPatch(rule: RuleSnapshot, plan: ServicePlan): KubePatch {
  const { namespace, name } = plan
  const ownerReferences = ownersOf(rule, rule.endpoints?.metadata.ownerReferences)
  const subsets = [
    {
      addresses: plan.endpoints.map((ip) => ({ ip })),
      ports: plan.ports.map(({ name: port, targetPort, protocol }) => ({
        ...(port === undefined ? {} : { name: port }),
        port: targetPort,
        protocol,
      })),
    },
  ]
  // Those that Kubernetes made by a selector are of no use to who makes slices.
  const labels = { [endpointsLabel.managedBy]: null }
  return {
    resource: endpoints,
    namespace,
    name,
    merge: { metadata: { ownerReferences, ...(hasLabel(rule.endpoints) ? { labels } : {}) }, subsets },
    create: {
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata: { namespace, name, ownerReferences } },
      ...{ subsets },
    },
  }
}

function hasLabel(object: Endpoints | undefined): boolean {
  return object?.metadata.labels?.[endpointsLabel.managedBy] !== undefined
}

/** Others may be among them. */
function ownersOf(
  { object, name, kind: { resource } }: RuleSnapshot,
  present: readonly OwnerReference[] = [],
): Pick<OwnerReference, keyof OwnerReference>[] {
  const { kind } = resource
  const isOurs = (owner: OwnerReference) => owner.kind === kind && owner.apiVersion === apiVersion
  const ours = { apiVersion, kind, name, uid: object?.metadata.uid ?? '' }
  return [...present.filter((owner) => !isOurs(owner)), ours].map((owner) => ({ ...owner }))
}

function statusPatch(rule: RuleSnapshot): KubePatch {
  const { kind, name, plan, observed, now } = rule
  const conditions = withObservedGeneration(conditionsOf(rule), observed.observedGeneration, now)
  const none = rule.isWithdrawn ? { service: null, ports: null } : {}
  const made = plan === undefined ? none : statusOf(plan)
  return {
    resource: kind.resource,
    name,
    subresource: 'status',
    merge: { status: { ...observed, ...made, conditions: conditions.map((one) => ({ ...one })) } },
  }
}

function statusOf({ namespace, name, ports }: ServicePlan): Readonly<Record<string, string>> {
  return {
    service: `${namespace}/${name}`,
    ports: ports.map(({ port, protocol }) => `${port}/${protocol}`).join(','),
  }
}

function conditionsOf({ object, problem, now }: RuleSnapshot): readonly Condition[] {
  const before = object?.status?.conditions ?? []
  if (problem === undefined) {
    const reason = lbRuleReason.served
    return setCondition(before, { type: conditionType.ready, status: 'True', reason }, now)
  }
  const told = { reason: reasonOf(problem), message: problemText(problem) }
  return setCondition(before, { type: conditionType.ready, status: 'False', ...told }, now)
}

function reasonOf(problem: NonNullable<RuleSnapshot['problem']>): string {
  const { noBackends, notAsWritten } = lbRuleReason
  return problem instanceof LbRuleBackendsError ? noBackends : notAsWritten
}

/** Tells the user once, when the problem appears: afterwards the condition holds it. */
function eventsOf({ kind, object, name, problem }: RuleSnapshot): readonly KubeEvent[] {
  const uid = object?.metadata.uid
  if (uid === undefined || problem === undefined || problem instanceof LbRuleBackendsError) return []
  const message = problemText(problem)
  const isKnown = object?.status?.conditions?.some(
    (condition) => condition.type === conditionType.ready && condition.message === message,
  )
  if (isKnown === true) return []
  const regarding = { resource: kind.resource, name, uid }
  return [{ regarding, type: 'Warning', reason: reasonOf(problem), message }]
}
