import { problemText } from '@kube-ovn/errors'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow, desiredMeter, networkPolicyResources } from '@kube-ovn/domains-control/policies'
import {
  externalId,
  networkPolicyAcl,
  networkPolicyAclId,
  networkPolicyAddresses,
  networkPolicyMeter,
  networkPolicyMeterBand,
  networkPolicyName,
  networkPolicyPortGroup,
} from '@kube-ovn/ovn-names'
import { nothing, type Desired, type KubeEvent, type OwnedRow } from '@kube-ovn/reconcile'
import type { NetworkPolicySnapshot } from './snapshot.ts'

/**
 * Computes the port group of a NetworkPolicy with its ACLs, the address sets of its rules and the meters of its log. Pods put their ports and
 * addresses into these themselves, in the transaction that makes the port.
 *
 * @see ovn-nb(5), Port_Group, ACL, Address_Set, Meter
 */
export function desiredNetworkPolicy(snapshot: NetworkPolicySnapshot): Desired {
  const { namespace, name, group, rows } = snapshot
  const own = ref(networkPolicyPortGroup, group)
  const mark = `${namespace}/${networkPolicyName(name)}`
  const acls = rows.acls.map((acl) => ({
    acl,
    id: networkPolicyAclId(group, acl),
  }))
  const meters = rows.meters.map((meter) => desiredMeter(meterKinds, { ...meter, id: meter.name }))
  const groupRow: OwnedRow = {
    kind: networkPolicyPortGroup,
    id: group,
    columns: { name: group, external_ids: externalIds({ [externalId.networkPolicy]: mark }) },
  }
  return {
    ...nothing,
    rows: [
      groupRow,
      ...rows.sets.map(({ name: set, direction }) => ({
        kind: networkPolicyAddresses,
        id: set,
        columns: {
          name: set,
          external_ids: externalIds({ [externalId.networkPolicy]: `${mark}/${direction}` }),
        },
      })),
      ...acls.map(({ acl, id }) => aclRow(networkPolicyAcl, id, acl, { [externalId.parent]: group })),
      ...meters.flatMap((meter) => meter.rows),
    ],
    members: [
      ...acls.map(({ id }) => memberOf(own, 'acls', ref(networkPolicyAcl, id))),
      ...rows.sets.flatMap(({ name: set, addresses }) =>
        addresses.map((value) => ({ of: ref(networkPolicyAddresses, set), column: 'addresses', value })),
      ),
      ...meters.flatMap(({ members }) => members),
    ],
    events: problemEvents(snapshot),
  }
}

const meterKinds = { meter: networkPolicyMeter, band: networkPolicyMeterBand }

function problemEvents(snapshot: NetworkPolicySnapshot): readonly KubeEvent[] {
  const { kind, namespace, name, uid, problems } = snapshot
  const regarding = { resource: networkPolicyResources[kind], namespace, name, uid }
  return problems.map((problem) => ({
    ...{ regarding, type: 'Warning' as const, reason: 'NetworkPolicyInvalid', message: problemText(problem) },
  }))
}
