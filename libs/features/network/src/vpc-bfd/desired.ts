import { formatIp } from '@kube-ovn/ip'
import {
  bfdChassis,
  bfdChassisGroup,
  bfdPortName,
  bfdRouterPort,
  bfdSession,
  externalId,
  logicalRouter,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Member, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { sessionKey, type BfdPort, type BfdSession } from '@kube-ovn/domains-control/topology'

/** What decides about the BFD of a VPC. */
export interface BfdSnapshot {
  readonly vpc: string
  readonly sessions: readonly BfdSession[]
  readonly timers: { readonly minTx: number; readonly minRx: number; readonly detectMult: number }
  readonly port: BfdPort | undefined
  /** MAC address of a new port. */
  readonly newMac: string
}

/** Of the chassis that hosts a port, the others follow. */
const highestPriority = 100

/**
 * Computes the sessions by which a VPC's router supervises next hops, and the port that is the source of those of gateways.
 *
 * @see ovn-nb(5), BFD; HA_Chassis_Group; Logical_Router_Port, ha_chassis_group
 */
export function desiredBfd({ vpc, sessions, timers, port, newMac }: BfdSnapshot): Desired {
  const made = port === undefined ? { rows: [], members: [] } : desiredPort(vpc, port, newMac)
  return {
    ...nothing,
    rows: [...sessions.map((session) => desiredSession(session, timers)), ...made.rows],
    members: made.members,
  }
}

function desiredSession(session: BfdSession, { minTx, minRx, detectMult }: BfdSnapshot['timers']): OwnedRow {
  return {
    kind: bfdSession,
    id: sessionKey(session),
    columns: {
      logical_port: session.port,
      dst_ip: formatIp(session.neighbour),
      min_tx: minTx,
      min_rx: minRx,
      detect_mult: detectMult,
      external_ids: externalIds({}),
    },
  }
}

function desiredPort(
  vpc: string,
  { addresses, hosts }: BfdPort,
  newMac: string,
): { readonly rows: readonly OwnedRow[]; readonly members: readonly Member[] } {
  const name = bfdPortName(vpc)
  const group = ref(bfdChassisGroup, name)
  const chassis = hosts.map((host, place) => ({
    kind: bfdChassis,
    id: `${name}/${host.chassis}`,
    columns: {
      chassis_name: host.chassis,
      priority: Math.max(highestPriority - place, 0),
      external_ids: externalIds({ [externalId.chassisGroup]: name }),
    },
  }))
  return {
    rows: [
      {
        kind: bfdRouterPort,
        id: name,
        columns: {
          name,
          networks: [addresses.v4, addresses.v6].flatMap((ip) => (ip === undefined ? [] : [formatIp(ip)])),
          // Of upstream's build of OVN: nothing is routed to such a port.
          options: { 'bfd-only': 'true' },
          ha_chassis_group: group,
          external_ids: externalIds({ [externalId.logicalRouter]: vpc }),
        },
        onInsert: { mac: newMac },
      },
      {
        kind: bfdChassisGroup,
        id: name,
        columns: { name, external_ids: externalIds({ [externalId.routerPort]: name }) },
      },
      ...chassis,
    ],
    members: [
      memberOf(ref(logicalRouter, vpc), 'ports', ref(bfdRouterPort, name)),
      ...chassis.map(({ kind, id }) => memberOf(group, 'ha_chassis', ref(kind, id))),
    ],
  }
}
