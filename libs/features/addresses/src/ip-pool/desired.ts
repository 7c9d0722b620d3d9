import { externalId, ipPoolAddresses, ipPoolAddressSetName } from '@kube-ovn/ovn-names'
import { ipPoolResource, withObservedGeneration } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, withOurFinalizer, withoutOurFinalizer } from '@kube-ovn/domains-control'
import { ipPoolConditions, ipPoolEvents } from './conditions.ts'
import type { IpPoolSnapshot } from './snapshot.ts'

/**
 * Computes the address set of an IPPool, for users to refer to in matches, and what the object itself says.
 *
 * @see ovn-nb(5), Address_Set
 */
export function desiredIpPool(pool: IpPoolSnapshot): Desired {
  const { object, name, isOver, addressSetProblem } = pool
  const { finalizers, deletionTimestamp } = object.metadata
  if (isOver) {
    const merge = { metadata: { finalizers: withoutOurFinalizer(finalizers) } }
    return { ...nothing, patches: [{ resource: ipPoolResource, name, merge }] }
  }
  const problem = addressSetProblem ?? pool.problem
  return {
    ...nothing,
    rows: addressSetRows(pool),
    patches: [
      // Nobody may add a finalizer to what is being deleted.
      ...(deletionTimestamp === undefined
        ? [
            {
              resource: ipPoolResource,
              name,
              merge: { metadata: { finalizers: withOurFinalizer(finalizers) } },
            },
          ]
        : []),
      statusPatch(pool),
    ],
    events: ipPoolEvents(pool),
    // What users' matches refer to does not go because of a slip in an edit.
    ...(addressSetProblem === undefined ? {} : { hold: true }),
    ...(problem === undefined ? {} : { problem }),
  }
}

function addressSetRows({ name, addressSet }: IpPoolSnapshot): readonly OwnedRow[] {
  if (addressSet === undefined) return []
  return [
    {
      kind: ipPoolAddresses,
      id: name,
      columns: {
        name: ipPoolAddressSetName(name),
        addresses: addressSet,
        external_ids: externalIds({ [externalId.ipPool]: name }),
      },
    },
  ]
}

function statusPatch(pool: IpPoolSnapshot): KubePatch {
  const { observed, now } = pool
  const conditions = withObservedGeneration(ipPoolConditions(pool), observed.observedGeneration, now)
  return {
    resource: ipPoolResource,
    name: pool.name,
    subresource: 'status',
    merge: { status: { ...observed, conditions: conditions.map((condition) => ({ ...condition })) } },
  }
}
