import { problemText } from '@kube-ovn/errors'
import { nodeAnnotations } from '@kube-ovn/annotations'
import { familyOf, formatIpList, parseIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { nodes } from '@kube-ovn/kube-api/core'
import {
  externalId,
  logicalRouter,
  logicalSwitch,
  nodeLocalDnsPolicy,
  nodePolicy,
  nodePort,
  nodePortGroup,
  nodePortGroupName,
  nodePortName,
  portGroupAddressSetName,
  routerPolicyPriority,
} from '@kube-ovn/ovn-names'
import { and, ipDestination, ipSourceSet, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { desiredIpObject, ipObjectRemoval, portAddresses } from '@kube-ovn/domains-control/addresses'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { leasedAddress, type Layout } from '@kube-ovn/domains-control/topology'
import type { DoubleAddress, NodeSnapshot } from './snapshot.ts'

/**
 * Computes a node's port on the nodes' switch, the policies that lead to the node, and the group of its pods' ports.
 *
 * @see ovn-nb(5), Logical_Switch_Port, Logical_Router_Policy, Port_Group
 */
export function desiredNode(node: NodeSnapshot): Desired {
  if (node.uid === undefined)
    return { ...nothing, patches: [ipObjectRemoval(nodePortName(node.name), node.ipObject)] }
  const { join } = node
  const problem = node.problem === undefined ? {} : { problem: node.problem }
  const events = [...refusalEvents(node), ...node.doubles.map((double) => doubleEvent(node, double))]
  if (join === undefined) return { ...nothing, hold: true, events, ...problem }
  const policies = desiredPolicies(node, join.lease)
  const router = ref(logicalRouter, join.network.vpc)
  return {
    ...nothing,
    rows: [desiredPortGroup(node.name), desiredPort(node.name, join.network, join.lease), ...policies],
    members: [
      memberOf(ref(logicalSwitch, join.network.name), 'ports', ref(nodePort, node.name)),
      ...policies.map((policy) => memberOf(router, 'policies', ref(policy.kind, policy.id))),
    ],
    patches: desiredObjects(node, join.network, join.lease),
    events,
    ...problem,
  }
}

/** Pods on a node that has no address in the nodes' network wait for it. */
function refusalEvents({ name, uid = '', problem }: NodeSnapshot): readonly KubeEvent[] {
  if (problem === undefined) return []
  const regarding = { resource: nodes, name, uid }
  return [{ regarding, type: 'Warning', reason: 'AcquireAddressFailed', message: problemText(problem) }]
}

/** Pods in whose subnet a node has its address can not reach that node; and one of them may have the very address. */
function doubleEvent(
  { name, uid = '' }: NodeSnapshot,
  { address, subnet, holders }: DoubleAddress,
): KubeEvent {
  const held = holders.length === 0 ? '' : ` and is held by ${holders.join(', ')}, which keeps it`
  return {
    regarding: { resource: nodes, name, uid },
    type: 'Warning',
    reason: 'NodeAddressConflictWithSubnet',
    message: `address ${address} of node ${name} lies in subnet ${subnet}${held}: give the node another address, or the subnet another spec.cidrBlock`,
  }
}

function desiredPortGroup(node: string): OwnedRow {
  return {
    kind: nodePortGroup,
    id: node,
    columns: {
      name: nodePortGroupName(node),
      external_ids: externalIds({ [externalId.node]: node, [externalId.networkPolicy]: `node/${node}` }),
    },
  }
}

function desiredPort(node: string, network: Layout, lease: Lease): OwnedRow {
  return {
    kind: nodePort,
    id: node,
    columns: {
      name: nodePortName(node),
      addresses: [portAddresses(lease)],
      external_ids: externalIds({ [externalId.logicalSwitch]: network.name }),
    },
  }
}

function desiredPolicies(node: NodeSnapshot, lease: Lease): readonly OwnedRow[] {
  const common = { priority: routerPolicyPriority.nodeDestination, action: 'reroute' }
  const toNode = node.internalAddresses.flatMap(({ family, address }): OwnedRow[] => {
    const nexthop = leasedAddress(lease, family)
    if (nexthop === undefined) return []
    return [
      {
        kind: nodePolicy,
        id: `${node.name}/${family}`,
        columns: {
          ...common,
          match: printMatch(ipDestination(address)),
          nexthops: [nexthop],
          external_ids: externalIds({
            [externalId.node]: node.name,
            [externalId.addressFamily]: String(family),
          }),
        },
      },
    ]
  })
  const toDns = node.nodeLocalDns.flatMap((address): OwnedRow[] => {
    const family = familyOf(parseIp(address))
    const nexthop = leasedAddress(lease, family)
    if (nexthop === undefined) return []
    const pods = portGroupAddressSetName(nodePortGroupName(node.name), family)
    return [
      {
        kind: nodeLocalDnsPolicy,
        id: `${node.name}/${address}`,
        columns: {
          ...common,
          match: printMatch(and(ipSourceSet(family, pods), ipDestination(address))),
          nexthops: [nexthop],
          external_ids: externalIds({
            [externalId.node]: node.name,
            [externalId.addressFamily]: String(family),
            [externalId.isLocalDnsCache]: 'true',
          }),
        },
      },
    ]
  })
  return [...toNode, ...toDns]
}

function desiredObjects(node: NodeSnapshot, network: Layout, lease: Lease): readonly KubePatch[] {
  const { name } = node
  const port = nodePortName(name)
  const holder = {
    name: port,
    podName: name,
    namespace: '',
    nodeName: name,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: node.uid ?? '' }],
  }
  const annotations = {
    [nodeAnnotations.allocated.key]: 'true',
    [nodeAnnotations.ipAddress.key]: formatIpList(lease),
    [nodeAnnotations.macAddress.key]: lease.mac ?? '',
    [nodeAnnotations.cidr.key]: network.cidrBlock,
    [nodeAnnotations.gateway.key]: network.gateway,
    [nodeAnnotations.logicalSwitch.key]: network.name,
    [nodeAnnotations.portName.key]: port,
  }
  return [
    desiredIpObject(holder, lease, node.ipObject, node.saysGeneration),
    { resource: nodes, name, merge: { metadata: { annotations } } },
  ]
}
