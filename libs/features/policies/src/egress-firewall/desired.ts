import { problemText } from '@kube-ovn/errors'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow, desiredMeter } from '@kube-ovn/domains-control/policies'
import { egressFirewallReason, egressFirewallResource } from '@kube-ovn/kube-api'
import {
  clusterAddressSetName,
  externalId,
  firewallAcl,
  firewallAddresses,
  firewallGroupName,
  firewallMeter,
  firewallMeterBand,
  firewallPortGroup,
  groupAclId,
} from '@kube-ovn/ovn-names'
import { firewallLogRate } from '@kube-ovn/policy'
import {
  nothing,
  type Desired,
  type KubeEvent,
  type KubePatch,
  type Member,
  type OwnedRow,
} from '@kube-ovn/reconcile'
import type { FirewallSnapshot } from './snapshot.ts'

type Firewall = Extract<FirewallSnapshot, { readonly kind: 'firewall' }>

/**
 * Computes the port group of a namespace's EgressFirewall with its ACLs, and the address sets of rules about nodes and DNS names; or the sets of what is
 * inside of the cluster. Pods put their ports into the group themselves, in the transaction that makes the port.
 *
 * @see ovn-nb(5), Port_Group, ACL, Address_Set
 */
export function desiredFirewall(snapshot: FirewallSnapshot): Desired {
  if (snapshot.kind === 'inside') return desiredInside(snapshot.prefixes)
  const { object, isInEffect, endsInMs } = snapshot
  const told = {
    ...{ patches: [statusPatch(snapshot)], events: problemEvents(snapshot) },
    ...(endsInMs === undefined ? {} : { recheckMs: endsInMs }),
  }
  return isInEffect
    ? { ...firewallRows(snapshot, object.metadata.namespace ?? ''), ...told }
    : { ...nothing, ...told }
}

function firewallRows({ rows }: Firewall, namespace: string): Desired {
  const group = firewallGroupName(namespace)
  const acls = rows.acls.map((acl) =>
    aclRow(firewallAcl, groupAclId(group, acl), acl, { [externalId.egressFirewall]: namespace }),
  )
  const meter = rows.meter === undefined ? nothing : meterOf(rows.meter)
  return {
    ...nothing,
    rows: [
      ...meter.rows,
      { kind: firewallPortGroup, id: group, columns: { name: group, external_ids: idsOf(namespace) } },
      ...rows.sets.map(({ name }) => setRow(name, namespace)),
      ...acls,
    ],
    members: [
      ...meter.members,
      ...acls.map(({ id }) => memberOf(ref(firewallPortGroup, group), 'acls', ref(firewallAcl, id))),
      ...rows.sets.flatMap(({ name, addresses }) => addresses.map((address) => addressIn(name, address))),
    ],
  }
}

function meterOf(name: string): Desired {
  return desiredMeter(
    { meter: firewallMeter, band: firewallMeterBand },
    { id: name, name, rate: firewallLogRate },
  )
}

function idsOf(namespace: string) {
  return externalIds({ [externalId.egressFirewall]: namespace })
}

function setRow(name: string, namespace: string): OwnedRow {
  return { kind: firewallAddresses, id: name, columns: { name, external_ids: idsOf(namespace) } }
}

function addressIn(set: string, address: string): Member {
  return { of: ref(firewallAddresses, set), column: 'addresses', value: address }
}

function desiredInside(prefixes: readonly string[]): Desired {
  return {
    ...nothing,
    rows: ([4, 6] as const).map((family) => setRow(clusterAddressSetName(family), '')),
    members: prefixes.map((prefix) => addressIn(clusterAddressSetName(prefix.includes(':') ? 6 : 4), prefix)),
  }
}

/** As OVN-Kubernetes words it. */
const words = {
  inEffect: 'EgressFirewall Rules applied',
  broken: 'EgressFirewall Rules not correctly applied',
} as const

function statusPatch({ object, problems, observed }: Firewall): KubePatch {
  const { name, namespace = '' } = object.metadata
  return {
    ...{ resource: egressFirewallResource, name, namespace, subresource: 'status' },
    merge: {
      status: {
        ...observed,
        status: problems.length === 0 ? words.inEffect : words.broken,
        messages: problems.length === 0 ? [words.inEffect] : problems.map((problem) => problemText(problem)),
      },
    },
  }
}

function problemEvents({ object, problems, logProblems }: Firewall): readonly KubeEvent[] {
  const { name, namespace = '', uid = '' } = object.metadata
  const regarding = { resource: egressFirewallResource, namespace, name, uid }
  return [...problems, ...logProblems].map((problem) => ({
    ...{ regarding, type: 'Warning' as const, reason: egressFirewallReason.invalid },
    message: problemText(problem),
  }))
}
