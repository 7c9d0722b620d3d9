import { problemText } from '@kube-ovn/errors'
import type { Resource } from '@kube-ovn/kube'
import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  conditionType,
  setMetaCondition,
  withoutCondition,
  type Condition,
} from '@kube-ovn/kube-api'
import type { AdminPolicyKind } from '@kube-ovn/ovn-names'
import type { Desired } from '@kube-ovn/reconcile'
import type { AdminPolicySnapshot } from './snapshot.ts'

/** The resources, by what stands for them in keys and names. */
export const adminResources: Readonly<Record<AdminPolicyKind, Resource>> = {
  anp: adminNetworkPolicyResource,
  banp: baselineAdminNetworkPolicyResource,
  cnp: clusterNetworkPolicyResource,
}

/** So many problems fit into the message of a condition, however long each is. */
const mostTold = 16

/** Says which parts of a policy have no effect: in a condition for as long as it is so, and in an event once for each. */
export function toldOf(snapshot: AdminPolicySnapshot): Pick<Desired, 'patches' | 'events'> {
  const { kind, object, enforced } = snapshot
  const { name, uid = '' } = object.metadata
  const resource = adminResources[kind]
  const before = object.status?.conditions ?? []
  const told = before.find((condition) => isOurs(condition, kind))?.message ?? ''
  const texts = (enforced?.problems ?? []).map((problem) => problemText(problem))
  const conditions = conditionsWith(texts, before, snapshot)
  const merge = { status: { conditions: conditions.map((condition) => ({ ...condition })) } }
  return {
    patches: conditions === before ? [] : [{ resource, name, subresource: 'status', merge }],
    events: texts
      .filter((message) => !told.includes(message))
      .map((message) => ({
        regarding: { resource, name, uid },
        ...{ type: 'Warning', reason: reasonOf(kind), message },
      })),
  }
}

function conditionsWith(
  problems: readonly string[],
  before: readonly Condition[],
  { kind, object, now }: AdminPolicySnapshot,
): readonly Condition[] {
  const type = conditionType.validated
  if (problems.length === 0)
    return before.some((condition) => isOurs(condition, kind)) ? withoutCondition(before, type) : before
  const more = problems.length - mostTold
  const rest = more > 0 ? [`There are ${more} more, each in an event`] : []
  const message = [...problems.slice(0, mostTold), ...rest].join('. ')
  const { generation } = object.metadata
  const about = generation === undefined ? {} : { observedGeneration: generation }
  return setMetaCondition(before, { type, status: 'False', reason: reasonOf(kind), message, ...about }, now)
}

/** Another implementation may call one the same, while this one is switched off. */
function isOurs({ type, reason }: Condition, kind: AdminPolicyKind): boolean {
  return type === conditionType.validated && reason === reasonOf(kind)
}

function reasonOf(kind: AdminPolicyKind): string {
  return `${adminResources[kind].kind}Invalid`
}
