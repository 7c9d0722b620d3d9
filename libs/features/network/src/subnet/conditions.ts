import { listText } from '@kube-ovn/errors'
import {
  conditionType,
  isConditionTrue,
  setCondition,
  subnetReason,
  subnetResource,
  withStandardConditions,
} from '@kube-ovn/kube-api'
import type { Condition, ConditionChange, Subnet } from '@kube-ovn/kube-api'
import { ignoredAnnotations, ignoredFields, type Ignored } from '@kube-ovn/no-effect'
import type { KubeEvent } from '@kube-ovn/reconcile'
import { ignoredEvents, withIgnored } from '@kube-ovn/domains-control'
import { subnetProblemText, type SubnetError } from '@kube-ovn/domains-control/topology'
import { nameHolders } from './named-holders.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** Computes the conditions of a subnet, the very same list when nothing about it changed. */
export function subnetConditions(subnet: SubnetSnapshot): readonly Condition[] {
  const before = subnet.object?.status?.conditions ?? []
  const { validated, ready, error } = conditionType
  // Upstream never gave subnets without a switch the condition of an error; they get it with the first one.
  const hasSwitch = subnet.network?.hasSwitch !== false
  const standard = withStandardConditions(
    before,
    hasSwitch ? [validated, ready, error] : [validated, ready],
    subnet.now,
  )
  const changed = changes(subnet, standard).reduce(
    (list, change) => setCondition(list, change, subnet.now),
    standard,
  )
  return withIgnored(changed, ignoredOf(subnet.object), subnet.now)
}

function ignoredOf(object: Subnet | undefined): readonly Ignored[] {
  return [...ignoredFields(object?.spec), ...ignoredAnnotations('Subnet', object?.metadata.annotations)]
}

function changes(subnet: SubnetSnapshot, conditions: readonly Condition[]): readonly ConditionChange[] {
  const { problem } = subnet
  if (problem !== undefined) {
    const reason = refusalReason(problem)
    const message = subnetProblemText(problem.details)
    return [
      { type: conditionType.error, status: 'True', reason, message },
      { type: conditionType.validated, status: 'False', reason, message },
      { type: conditionType.ready, status: 'False', reason, message },
    ]
  }
  const reason = reasonOf(subnet)
  const { gatewayProblem } = subnet
  if (gatewayProblem !== undefined) {
    const told = { reason: gatewayProblem.reason, message: subnetProblemText(gatewayProblem) }
    return [
      { type: conditionType.error, status: 'True', ...told },
      { type: conditionType.validated, status: 'True', reason },
      { type: conditionType.ready, status: 'False', ...told },
    ]
  }
  return [
    ...errorChange(subnet, conditions, reason),
    { type: conditionType.validated, status: 'True', reason },
    { type: conditionType.ready, status: 'True', reason },
  ]
}

/** Upstream tells apart what is wrong with a Vlan. */
function refusalReason({ details }: SubnetError): string {
  return details.field === 'spec.vlan'
    ? subnetReason.validateSubnetVlanFailed
    : subnetReason.validateLogicalSwitchFailed
}

/** Upstream's words for the last step that it took. */
function reasonOf({ network, object }: SubnetSnapshot): string {
  if (network?.hasSwitch === false) return subnetReason.setNonOvnSubnetSuccess
  return object?.spec?.private === true
    ? subnetReason.setPrivateLogicalSwitchSuccess
    : subnetReason.resetLogicalSwitchAclSuccess
}

/** A deletion that has to wait is an error; one that is over is told, and one that never was is not. */
function errorChange(
  subnet: SubnetSnapshot,
  conditions: readonly Condition[],
  reason: string,
): readonly ConditionChange[] {
  const { error } = conditionType
  const message = inUseText(subnet)
  if (message !== undefined)
    return [{ type: error, status: 'True', reason: subnetReason.subnetInUse, message }]
  return isConditionTrue(conditions, error) ? [{ type: error, status: 'False', reason }] : []
}

/** Says who keeps a deleted subnet from going. */
function inUseText({ isDeleting, holders }: SubnetSnapshot): string | undefined {
  if (!isDeleting || holders.length === 0) return undefined
  return `addresses of the subnet are held by ${nameHolders(holders)}: delete these first`
}

/** Tells the user once, when the problem appears: afterwards the conditions hold it. */
export function subnetEvents(subnet: SubnetSnapshot): readonly KubeEvent[] {
  const { object, name } = subnet
  if (object?.metadata.uid === undefined) return []
  const regarding = { resource: subnetResource, name, uid: object.metadata.uid }
  return [
    ...problemEvents(subnet, object, regarding),
    ...ignoredEvents(regarding, object.status?.conditions, ignoredOf(object)),
  ]
}

function problemEvents(
  subnet: SubnetSnapshot,
  object: Subnet,
  regarding: KubeEvent['regarding'],
): readonly KubeEvent[] {
  const { problem } = subnet
  const warn = (reason: string, message: string): KubeEvent => ({
    regarding,
    type: 'Warning',
    reason,
    message,
  })
  if (problem !== undefined) {
    const message = subnetProblemText(problem.details)
    const isKnown = has(object, conditionType.validated, message)
    return isKnown ? [] : [warn(refusalReason(problem), message)]
  }
  const inUse = inUseText(subnet)
  const { strayExcludes, contradictions, namespacesElsewhere, gatewayProblem, unknownGateways } = subnet
  const gatewayText = gatewayProblem && subnetProblemText(gatewayProblem)
  return [
    ...(gatewayText === undefined || has(object, conditionType.error, gatewayText)
      ? []
      : [warn(gatewayProblem?.reason ?? '', gatewayText)]),
    ...(unknownGateways.length === 0
      ? []
      : [
          warn(
            subnetReason.gatewayNodeUnknown,
            `spec.gatewayNode ${JSON.stringify(listText(unknownGateways, ','))}: name nodes that are there, or remove them; the others are gateways`,
          ),
        ]),
    ...(inUse === undefined || has(object, conditionType.error, inUse)
      ? []
      : [warn(subnetReason.subnetInUse, inUse)]),
    ...(strayExcludes.length === 0
      ? []
      : [
          warn(
            subnetReason.excludeIpsIgnored,
            `spec.excludeIps ${JSON.stringify(listText(strayExcludes, ','))}: choose addresses of the subnet, or remove them; they exclude nothing`,
          ),
        ]),
    ...(contradictions.length === 0
      ? []
      : [
          warn(
            subnetReason.aclsContradict,
            `${listText(contradictionTexts(contradictions, object), ', ')}: choose another one; OVN takes either action for packets that both are about`,
          ),
        ]),
    ...(namespacesElsewhere.length === 0
      ? []
      : [
          warn(
            subnetReason.namespaceOfOtherVpc,
            `spec.namespaces ${JSON.stringify(listText(namespacesElsewhere, ','))}: list them in spec.namespaces of the Vpc of the subnet alone, or leave them out; their pods take no addresses here`,
          ),
        ]),
  ]
}

/** As many contradictions are told; an event has not room for more. */
const mostTold = 8

function contradictionTexts(
  contradictions: SubnetSnapshot['contradictions'],
  { spec }: Subnet,
): readonly string[] {
  const fieldOf = ({
    direction,
    priority,
    match,
  }: SubnetSnapshot['contradictions'][number]['rule']): string => {
    const at = (spec?.acls ?? []).findIndex(
      (acl) => acl.direction === direction && (acl.priority ?? 0) === priority && (acl.match ?? '') === match,
    )
    return `spec.acls[${at}]`
  }
  return contradictions
    .slice(0, mostTold)
    .map(({ rule, other }) => `${fieldOf(rule)}.priority "${rule.priority}" (that of ${fieldOf(other)})`)
}

function has(object: Subnet, type: string, message: string): boolean {
  return (
    object.status?.conditions?.some(
      (condition) => condition.type === type && condition.message === message,
    ) === true
  )
}
