import { apiVersion, ovnEipResource, ovnEipType, vpcResource } from '@kube-ovn/kube-api'
import {
  externalId,
  externalRouterPort,
  externalSwitchPort,
  gatewayChassis,
  logicalRouter,
  logicalSwitch,
  switchRouterPortName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, Member, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'

/** What decides about the connections of a VPC to external subnets. */
export interface ExternalsSnapshot {
  readonly vpc: string
  /** Of the Vpc, to which the OvnEips belong; absent before it exists. */
  readonly uid: string | undefined
  readonly connections: readonly ConnectionSnapshot[]
  /** OvnEips that were made for connections that are no more. */
  readonly stale: readonly string[]
}

export interface ConnectionSnapshot {
  readonly subnet: string
  readonly eip: string
  /** The router's end; absent while the OvnEip has no addresses. */
  readonly end: { readonly mac: string; readonly networks: readonly string[] } | undefined
  /** The chassis by way of which the router is connected, the preferred one first. */
  readonly chassis: readonly string[]
}

/** Of the chassis that a router prefers. */
const highestPriority = 100

/**
 * Computes the ports between the router of a VPC and the switches of external subnets, and the nodes that host the router's.
 *
 * Without a node there is no port: it would be everywhere, and answer with one MAC address on each node.
 *
 * @see ovn-nb(5), Logical_Router_Port, gateway_chassis; Gateway_Chassis
 */
export function desiredExternals({ vpc, uid, connections, stale }: ExternalsSnapshot): Desired {
  const made = connections.flatMap((connection) =>
    connection.end === undefined || connection.chassis.length === 0
      ? []
      : [desiredConnection(vpc, connection, connection.end)],
  )
  return {
    ...nothing,
    rows: made.flatMap(({ rows }) => rows),
    members: made.flatMap(({ members }) => members),
    patches: [
      ...(uid === undefined ? [] : connections.map((connection) => eipPatch(vpc, uid, connection))),
      ...stale.map((name) => ({ resource: ovnEipResource, name, remove: true as const })),
    ],
  }
}

/** One that is there already stays as it is: its user chose the addresses. */
function eipPatch(vpc: string, uid: string, { subnet, eip }: ConnectionSnapshot): KubePatch {
  const owner = { apiVersion, kind: vpcResource.kind, name: vpc, uid }
  const spec = { externalSubnet: subnet, type: ovnEipType.routerPort }
  const metadata = { name: eip, ownerReferences: [owner] }
  return {
    resource: ovnEipResource,
    name: eip,
    merge: {},
    create: { apiVersion, kind: ovnEipResource.kind, metadata, spec },
  }
}

function desiredConnection(
  vpc: string,
  { subnet, eip, chassis }: ConnectionSnapshot,
  { mac, networks }: NonNullable<ConnectionSnapshot['end']>,
): { readonly rows: readonly OwnedRow[]; readonly members: readonly Member[] } {
  const switchPort = switchRouterPortName(subnet, vpc)
  const hosts = chassis.map((name, place) => ({
    kind: gatewayChassis,
    id: `${eip}-${name}`,
    columns: {
      name: `${eip}-${name}`,
      chassis_name: name,
      priority: Math.max(highestPriority - place, 0),
      external_ids: externalIds({ [externalId.routerPort]: eip }),
    },
  }))
  return {
    rows: [
      {
        kind: externalSwitchPort,
        id: switchPort,
        columns: {
          name: switchPort,
          type: 'router',
          addresses: ['router'],
          options: { 'router-port': eip },
          external_ids: externalIds({ [externalId.logicalSwitch]: subnet }),
        },
      },
      {
        kind: externalRouterPort,
        id: eip,
        columns: { name: eip, mac, networks, external_ids: externalIds({ [externalId.logicalRouter]: vpc }) },
      },
      ...hosts,
    ],
    members: [
      memberOf(ref(logicalSwitch, subnet), 'ports', ref(externalSwitchPort, switchPort)),
      memberOf(ref(logicalRouter, vpc), 'ports', ref(externalRouterPort, eip)),
      ...hosts.map(({ kind, id }) =>
        memberOf(ref(externalRouterPort, eip), 'gateway_chassis', ref(kind, id)),
      ),
    ],
  }
}
