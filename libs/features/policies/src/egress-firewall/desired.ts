import { problemText } from '@kube-ovn/errors'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { egressFirewallReason, egressFirewallResource } from '@kube-ovn/kube-api'
import {
  clusterAddressSetName,
  externalId,
  firewallAcl,
  firewallAddresses,
  firewallGroupName,
  firewallPortGroup,
  groupAclId,
} from '@kube-ovn/ovn-names'
import type { PolicyAcl } from '@kube-ovn/policy'
import { nothing, type Desired, type KubeEvent, type KubePatch, type OwnedRow } from '@kube-ovn/reconcile'
import type { FirewallSnapshot } from './snapshot.ts'

type Firewall = Extract<FirewallSnapshot, { readonly kind: 'firewall' }>

/**
 * Computes the port group of a namespace's EgressFirewall with its ACLs, and the address sets of rules about nodes; or the sets of what is
 * inside of the cluster. Pods put their ports into the group themselves, in the transaction that makes the port.
 *
 * @see ovn-nb(5), Port_Group, ACL, Address_Set
 */
export function desiredFirewall(snapshot: FirewallSnapshot): Desired {
  if (snapshot.kind === 'inside') return desiredInside(snapshot.prefixes)
  const { object, isInEffect } = snapshot
  const told = { patches: [statusPatch(snapshot)], events: problemEvents(snapshot) }
  return isInEffect
    ? { ...firewallRows(snapshot, object.metadata.namespace ?? ''), ...told }
    : { ...nothing, ...told }
}

function firewallRows({ rows }: Firewall, namespace: string): Desired {
  const group = firewallGroupName(namespace)
  const acls = rows.acls.map((acl) => aclRow(namespace, group, acl))
  return {
    ...nothing,
    rows: [
      { kind: firewallPortGroup, id: group, columns: { name: group, external_ids: idsOf(namespace) } },
      ...rows.sets.map(({ name, addresses }) => setRow(name, addresses, namespace)),
      ...acls,
    ],
    members: acls.map(({ id }) => memberOf(ref(firewallPortGroup, group), 'acls', ref(firewallAcl, id))),
  }
}

function idsOf(namespace: string) {
  return externalIds({ [externalId.egressFirewall]: namespace })
}

function aclRow(namespace: string, group: string, acl: PolicyAcl): OwnedRow {
  const { isLogged, isAfterBalancing, ...columns } = acl
  return {
    kind: firewallAcl,
    id: groupAclId(group, acl),
    columns: {
      ...{ ...columns, log: isLogged, external_ids: idsOf(namespace) },
      options: { 'apply-after-lb': isAfterBalancing ? 'true' : undefined },
    },
  }
}

function setRow(name: string, addresses: readonly string[], namespace: string): OwnedRow {
  return {
    kind: firewallAddresses,
    id: name,
    columns: { name, addresses: [...addresses].sort(), external_ids: idsOf(namespace) },
  }
}

function desiredInside(prefixes: readonly string[]): Desired {
  return {
    ...nothing,
    rows: ([4, 6] as const).map((family) =>
      setRow(
        clusterAddressSetName(family),
        prefixes.filter((text) => text.includes(':') === (family === 6)),
        '',
      ),
    ),
  }
}

/** As OVN-Kubernetes words it. */
const words = {
  inEffect: 'EgressFirewall Rules applied',
  broken: 'EgressFirewall Rules not correctly applied',
} as const

function statusPatch({ object, problems }: Firewall): KubePatch {
  const { name, namespace = '' } = object.metadata
  return {
    ...{ resource: egressFirewallResource, name, namespace, subresource: 'status' },
    merge: {
      status: {
        status: problems.length === 0 ? words.inEffect : words.broken,
        messages: problems.length === 0 ? [words.inEffect] : problems.map((problem) => problemText(problem)),
      },
    },
  }
}

function problemEvents({ object, problems }: Firewall): readonly KubeEvent[] {
  const { name, namespace = '', uid = '' } = object.metadata
  const regarding = { resource: egressFirewallResource, namespace, name, uid }
  return problems.map((problem) => ({
    ...{ regarding, type: 'Warning' as const, reason: egressFirewallReason.invalid },
    message: problemText(problem),
  }))
}
