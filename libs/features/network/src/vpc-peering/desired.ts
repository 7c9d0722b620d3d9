import { cidrText } from '@kube-ovn/ip'
import { externalId, logicalRouter, peerRouterPort, peerRouterPortName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import type { VpcPeering } from '@kube-ovn/domains-control/topology'

/** What decides about the connections of a VPC to others. */
export interface PeeringsSnapshot {
  readonly vpc: string
  readonly peerings: readonly VpcPeering[]
  /** MAC addresses of new ports, one for each peering. */
  readonly newMacs: readonly string[]
}

/**
 * Computes this side of the connections of a VPC: a port of its router for each, whose peer is a port of the other one's.
 *
 * @see ovn-nb(5), Logical_Router_Port, peer
 */
export function desiredPeerings({ vpc, peerings, newMacs }: PeeringsSnapshot): Desired {
  const rows = peerings.map(({ remote, networks }, place) => {
    const name = peerRouterPortName(vpc, remote)
    return {
      kind: peerRouterPort,
      id: name,
      columns: {
        name,
        networks: networks.map(cidrText),
        peer: peerRouterPortName(remote, vpc),
        external_ids: externalIds({ [externalId.logicalRouter]: vpc }),
      },
      onInsert: { mac: newMacs[place] },
    }
  })
  return {
    ...nothing,
    rows,
    members: rows.map(({ kind, id }) => memberOf(ref(logicalRouter, vpc), 'ports', ref(kind, id))),
  }
}
