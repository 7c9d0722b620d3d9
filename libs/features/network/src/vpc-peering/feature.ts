import { vpcResource } from '@kube-ovn/kube-api'
import { logicalRouter, peerRouterPort } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { comesOrGoes, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredPeerings } from './desired.ts'
import type { PeeringsSnapshot } from './desired.ts'

/** Connects routers of VPCs with each other. */
export const vpcPeerings: ControlFeature<string, PeeringsSnapshot | typeof kept> = {
  name: 'vpc-peering',
  kinds: [peerRouterPort],
  mayOwn: (vpc, { id }) => id.startsWith(`${vpc}-`),
  about: { resource: vpcResource },
  memberships: [{ kind: logicalRouter.name, column: 'ports' }],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }],
  initialKeys: ({ settings }) => [settings.clusterRouter],
  observe: (vpc, world) =>
    partOfVpc(vpc, world, () => {
      const peerings = world.routerPeerings.get(vpc) ?? []
      return { vpc, peerings, newMacs: peerings.map(() => world.newMac()) }
    }),
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === kept ? { ...nothing, hold: true } : desiredPeerings(snapshot)
  },
}
