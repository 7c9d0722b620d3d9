import { formatIp } from '@kube-ovn/ip'
import type { DualStackIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { ipSource, printMatch } from '@kube-ovn/ovn-match'
import {
  externalId,
  interconnectionPortGroup,
  logicalRouter,
  logicalSwitch,
  nodePortGroup,
  northGatewayPolicy,
  podPort,
  routerPolicyPriority,
  subnetNodePortGroup,
  subnetNodePortGroupName,
} from '@kube-ovn/ovn-names'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { portAddresses } from '@kube-ovn/domains-control/addresses'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { isReachedByNodes } from '@kube-ovn/domains-control/topology'
import { chassisOptions, type ChassisRequest } from './chassis.ts'
import { desiredDhcp } from './dhcp.ts'
import type { Placement } from './placement.ts'
import { securityMarks } from './security-members.ts'
import type { PlacedNic } from './snapshot.ts'

interface PortHolder {
  readonly namespace: string
  readonly name: string
}

/** Computes the port of a NIC as far as its addresses decide; a port that waits for its pod is nowhere. */
export function portRow(holder: PortHolder, port: string, lease: Lease): OwnedRow {
  return {
    kind: podPort,
    id: port,
    columns: {
      name: port,
      addresses: [portAddresses(lease)],
      options: chassisOptions(undefined),
      external_ids: portIds(holder, lease),
    },
  }
}

function portIds({ namespace, name }: PortHolder, lease: Lease): Readonly<Record<string, string>> {
  return externalIds({
    [externalId.logicalSwitch]: lease.subnet,
    [externalId.pod]: `${namespace}/${name}`,
  })
}

/**
 * Computes the port of a NIC in use, the groups that it is in, and the way out of the cluster if it has its own.
 *
 * Port security is empty unless the pod asks for it: OVN reads an empty set as "allow all".
 *
 * @param moving where it is while a machine moves
 * @see ovn-nb(5), Logical_Switch_Port, addresses, port_security, options:requested-chassis
 */
export function desiredPort(
  holder: PortHolder,
  node: string,
  placed: PlacedNic,
  moving?: ChassisRequest,
): Pick<Desired, 'rows' | 'members'> {
  const { nic, options, dhcp, placement } = placed
  const { network, lease } = placement
  const plain = portRow(holder, nic.port, lease)
  const answers = desiredDhcp(nic.port, lease.subnet, dhcp)
  const vips = options.vips.map((ip) => formatIp(ip))
  const own = portAddresses(lease)
  const self = ref(podPort, nic.port)
  // Nodes, and what is behind them, are reached from the default VPC alone, by its router.
  const policies =
    network.isDefaultVpc && network.isRouted ? northPolicies(placement, options.northGateway ?? {}) : []
  // Upstream's build of OVN holds traffic back on the one node, too; others are given what makes no difference there.
  const onItsNode = options.isActivatedByRarp ? { nodes: [node, node], isActivatedByRarp: true } : undefined
  const leavesByNode = network.leavesByNode && options.northGateway === undefined
  return {
    rows: [
      {
        ...plain,
        columns: {
          ...plain.columns,
          ...answers.columns,
          addresses: [own, ...(options.forwardsUnknown ? ['unknown'] : [])],
          options: chassisOptions(moving ?? onItsNode),
          port_security: options.isSecured ? [[own, ...vips].join(' ')] : [],
          external_ids: {
            ...portIds(holder, lease),
            [externalId.vips]: vips.length === 0 ? undefined : vips.join(),
            [externalId.hasVips]: vips.length === 0 ? undefined : 'true',
            ...securityMarks(placed),
          },
        },
      },
      ...answers.rows,
      ...policies,
    ],
    members: [
      memberOf(ref(logicalSwitch, network.name), 'ports', self),
      ...(isReachedByNodes(network) ? [memberOf(ref(nodePortGroup, node), 'ports', self)] : []),
      ...(network.isServedByNode
        ? [
            memberOf(
              ref(interconnectionPortGroup, subnetNodePortGroupName(network.name, node)),
              'ports',
              self,
            ),
          ]
        : []),
      ...(leavesByNode ? [memberOf(ref(subnetNodePortGroup, `${network.name}/${node}`), 'ports', self)] : []),
      ...policies.map(({ kind, id }) => memberOf(ref(logicalRouter, network.vpc), 'policies', ref(kind, id))),
    ],
  }
}

/** Of the families in which there are both an address and a next hop. */
function northPolicies({ network, lease }: Placement, gateway: DualStackIp): readonly OwnedRow[] {
  return [[lease.v4, gateway.v4] as const, [lease.v6, gateway.v6] as const].flatMap(([source, nexthop]) => {
    if (source === undefined || nexthop === undefined) return []
    return [
      {
        kind: northGatewayPolicy,
        id: `${network.name}/${formatIp(source)}`,
        columns: {
          priority: routerPolicyPriority.podGateway,
          match: printMatch(ipSource(source)),
          action: 'reroute',
          nexthops: [formatIp(nexthop)],
          external_ids: externalIds({ [externalId.subnet]: network.name }),
        },
      },
    ]
  })
}
