import { formatIp, type DualStackIp } from '@kube-ovn/ip'
import {
  arpProxyOption,
  externalId,
  logicalRouter,
  logicalSwitch,
  routerPolicyPriority,
  routerPortName,
  routeTableOption,
  subnetPolicy,
  subnetRouterPort,
  switchRouterPort,
  switchRouterPortName,
} from '@kube-ovn/ovn-names'
import { ipDestination, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Member, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { familiesOf, isPublished } from '@kube-ovn/domains-control/topology'
import type { Network, Querier } from '@kube-ovn/domains-control/topology'
import { desiredObjects, finalizerRemoval } from './objects.ts'
import { subnetEvents } from './conditions.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** A server drops fields of a new definition for a moment, and nothing tells when it keeps them. */
const definitionMs = 2_000

/**
 * Computes the switch of a subnet, its port to the router, and the policy that keeps traffic for it inside.
 *
 * A subnet that can not be used keeps the rows of what is in effect: an invalid edit takes no running pod off the network.
 *
 * @see ovn-nb(5), Logical_Switch, Logical_Router_Port, Logical_Router_Policy
 */
export function desiredSubnet(subnet: SubnetSnapshot): Desired {
  if (subnet.isDeleting && subnet.holders.length === 0)
    return { ...nothing, patches: finalizerRemoval(subnet) }
  const { inEffect, accepted, problem } = subnet
  const patches = desiredObjects(subnet)
  const network = accepted ?? inEffect
  const isUnsaid = network !== undefined && subnet.canSayInEffect && !isPublished(network, subnet.object)
  const recheck = isUnsaid ? { recheckMs: definitionMs } : {}
  // Its status is written first. Once it is there the rows follow, here and of all who go by the network.
  if (accepted !== undefined) return { ...nothing, hold: true, patches, ...recheck }
  const events = subnetEvents(subnet)
  const told = { patches, events, ...recheck, ...(problem === undefined ? {} : { problem }) }
  if (inEffect === undefined) return { ...nothing, hold: true, ...told }
  return {
    ...nothing,
    ...desiredRows(inEffect, subnet),
    ...told,
  }
}

interface Rows {
  readonly rows: OwnedRow[]
  readonly members: Member[]
}

function desiredRows(
  network: Network,
  { routerMac, routeTable, querier, interconnection, answered }: SubnetSnapshot,
): Rows {
  const { name, hasSwitch } = network
  if (!hasSwitch) return { rows: [], members: [] }
  const connection =
    routerMac === undefined
      ? undefined
      : desiredConnection(network, {
          mac: routerMac,
          addresses: interconnection?.addresses ?? network.gateways,
          routeTable,
          answered,
        })
  return {
    rows: [
      {
        kind: logicalSwitch,
        id: name,
        columns: { name, other_config: multicastConfig(querier), external_ids: externalIds({}) },
      },
      ...(connection?.rows ?? []),
    ],
    members: connection?.members ?? [],
  }
}

/** Keys that have no value are taken away. @see ovn-nb(5), Logical_Switch, other_config:mcast_snoop */
function multicastConfig(querier: Querier | undefined): Readonly<Record<string, string | undefined>> {
  const on = querier === undefined ? undefined : 'true'
  return {
    ...{ mcast_snoop: on, mcast_querier: on },
    ...{ mcast_eth_src: querier?.mac, mcast_ip4_src: querier?.v4, mcast_ip6_src: querier?.v6 },
  }
}

/** The router's end of a connection. */
interface RouterEnd {
  readonly mac: string
  readonly addresses: DualStackIp
  readonly routeTable: string | undefined
  readonly answered: readonly string[]
}

/** The ports between a switch and the router of its VPC, and what leads from other subnets to it. */
function desiredConnection(network: Network, { mac, addresses, routeTable, answered }: RouterEnd): Rows {
  const { name, vpc } = network
  const routerPort = routerPortName(vpc, name)
  const switchPort = switchRouterPortName(name, vpc)
  const families = familiesOf(network)
  // What may come to an underlay subnet of the default VPC is said by its connection.
  const isPlain = !(network.isInterconnected && network.isDefaultVpc)
  const policies = (isPlain ? families : []).map(({ family, cidr }) => ({
    id: `${name}/${family}`,
    match: printMatch(ipDestination(cidr)),
  }))
  return {
    rows: [
      {
        kind: switchRouterPort,
        id: switchPort,
        columns: {
          name: switchPort,
          type: 'router',
          addresses: ['router'],
          options: {
            'router-port': routerPort,
            [arpProxyOption]: answered.length === 0 ? undefined : answered.join(' '),
          },
          external_ids: externalIds({ [externalId.logicalSwitch]: name }),
        },
      },
      {
        kind: subnetRouterPort,
        id: routerPort,
        columns: {
          name: routerPort,
          mac,
          networks: families.flatMap(({ family }) => {
            const [address, cidr] =
              family === 4 ? [addresses.v4, network.cidrs.v4] : [addresses.v6, network.cidrs.v6]
            return address === undefined || cidr === undefined
              ? []
              : [`${formatIp(address)}/${cidr.prefixLength}`]
          }),
          options: { [routeTableOption]: routeTable },
          external_ids: externalIds({ [externalId.logicalRouter]: vpc }),
        },
      },
      ...policies.map(({ id, match }) => ({
        kind: subnetPolicy,
        id,
        columns: {
          priority: routerPolicyPriority.subnetDestination,
          match,
          action: 'allow',
          external_ids: externalIds({ [externalId.subnet]: name }),
        },
      })),
    ],
    members: [
      memberOf(ref(logicalSwitch, name), 'ports', ref(switchRouterPort, switchPort)),
      memberOf(ref(logicalRouter, vpc), 'ports', ref(subnetRouterPort, routerPort)),
      ...policies.map(({ id }) => memberOf(ref(logicalRouter, vpc), 'policies', ref(subnetPolicy, id))),
    ],
  }
}
