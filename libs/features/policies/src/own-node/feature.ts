import { nodeAnnotations } from '@kube-ovn/annotations'
import {
  externalIds,
  flagsOf,
  isNamedAfter,
  memberOf,
  ref,
  type ControlFeature,
  type ControlWorld,
} from '@kube-ovn/domains-control'
import { hasOtherNetwork, internalAddresses } from '@kube-ovn/domains-control/topology'
import { familyOf, formatIp, tryParseIp, type Family } from '@kube-ovn/ip'
import type { ObjectChange } from '@kube-ovn/kube'
import { nodes, type Node } from '@kube-ovn/kube-api/core'
import {
  and,
  inPortGroup,
  ipDestination,
  ipDestinationSet,
  ipSource,
  ipSourceSet,
  outPortGroup,
  printMatch,
} from '@kube-ovn/ovn-match'
import {
  aclPriority,
  aclTier,
  externalId,
  nodePortGroup,
  nodePortGroupName,
  ownNodeAcl,
  ownNodeAclId,
  portGroupAddressSetName,
} from '@kube-ovn/ovn-names'
import { nothing, type Desired } from '@kube-ovn/reconcile'
import { ownNodeFlags } from './flags.ts'

/** The addresses of a node from which its kubelet probes pods; none while no policy could keep it off. */
interface OwnNodeSnapshot {
  readonly node: string
  /** There are NetworkPolicies. */
  readonly isBesidePolicies: boolean
  /** A policy of an administrator denies everybody. */
  readonly isBeforeAdmins: boolean
  /** Its pods are told by their ports, else by their addresses. */
  readonly isByPorts: boolean
  readonly addresses: readonly { readonly family: Family; readonly address: string }[]
}

/** Lets each node talk to its own pods whatever policies say: its kubelet must probe them. */
export const ownNode: ControlFeature<string, OwnNodeSnapshot> = {
  name: 'own-node',
  kinds: [ownNodeAcl],
  mayOwn: (node, { id }) => isNamedAfter(nodePortGroupName(node), id),
  flags: ownNodeFlags,
  memberships: [{ kind: nodePortGroup.name, column: 'acls' }],
  triggers: [
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>) => (hasOtherNetwork(change) ? [change.key] : []),
    },
  ],
  observe: observeOwnNode,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredOwnNode(snapshot)),
}

function observeOwnNode(name: string, world: ControlWorld): OwnNodeSnapshot | undefined {
  const node = world.nodes.get(name)
  const isBesidePolicies = world.enforcedPolicies.some('all', '')
  const isBeforeAdmins = world.adminPolicies.some('closed', '')
  if (node === undefined || !(isBesidePolicies || isBeforeAdmins)) return undefined
  const own = internalAddresses(node)
  const joined = (node.metadata.annotations?.[nodeAnnotations.ipAddress.key] ?? '').split(',', 2)
  const further = joined.flatMap((text) => {
    const ip = tryParseIp(text)
    return ip === undefined ? [] : [{ family: familyOf(ip), address: formatIp(ip) }]
  })
  return {
    ...{ node: name, isBesidePolicies, isBeforeAdmins },
    isByPorts: flagsOf(ownNodeFlags, world.settings).ownNodeMatch === 'ports',
    addresses: [...own, ...further.filter(({ family }) => !own.some((one) => one.family === family))],
  }
}

/**
 * Computes the ACLs of a node's port group.
 *
 * @see ovn-nb(5), ACL
 */
export function desiredOwnNode(snapshot: OwnNodeSnapshot): Desired {
  const { node, addresses, isBesidePolicies, isBeforeAdmins, isByPorts } = snapshot
  const group = nodePortGroupName(node)
  const acls = addresses.flatMap(({ family, address }) => {
    const set = portGroupAddressSetName(group, family)
    const [to, from] = isByPorts
      ? [outPortGroup(group), inPortGroup(group)]
      : [ipDestinationSet(family, set), ipSourceSet(family, set)]
    return [
      { direction: 'to-lport', match: and(ipSource(address), to) },
      { direction: 'from-lport', match: and(ipDestination(address), from) },
    ].map(({ direction, match }) => ({ direction, match: printMatch(match) }))
  })
  const { nodes: priority, adminNodes } = aclPriority
  const places = [
    ...(isBesidePolicies ? acls.map((acl) => ({ ...acl, tier: aclTier.policy, priority })) : []),
    // What the node asks for is answered: no policy is asked about answers.
    ...(isBeforeAdmins
      ? acls
          .filter(({ direction }) => direction === 'to-lport')
          .map((acl) => ({ ...acl, tier: aclTier.admin, priority: adminNodes }))
      : []),
  ]
  const rows = places.map((acl) => ({
    kind: ownNodeAcl,
    id: ownNodeAclId(group, acl),
    columns: {
      ...{ ...acl, action: 'allow-related' },
      options: { 'apply-after-lb': acl.direction === 'from-lport' ? 'true' : undefined },
      external_ids: externalIds({ [externalId.parent]: group }),
    },
  }))
  return {
    ...nothing,
    rows,
    members: rows.map(({ kind, id }) => memberOf(ref(nodePortGroup, node), 'acls', ref(kind, id))),
  }
}
