import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, vipResource, type Subnet } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { healthChecks, serviceWatch, sliceWatch } from '@kube-ovn/domains-control/services'
import { desiredSource, type SourceSnapshot } from './desired.ts'

/** Keeps, in each subnet with backends that are asked whether they are well, an address to ask from. */
export const healthCheck: ControlFeature<string, SourceSnapshot> = {
  name: 'health-check',
  kinds: [],
  watches: [serviceWatch, sliceWatch],
  tables: [healthChecks],
  rights: [{ resource: vipResource, verbs: ['create', 'delete'] }],
  triggers: [
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        lifeOf(old) === lifeOf(current) ? [] : [key],
    },
    { on: 'object', resource: vipResource, keys: (change) => [change.key] },
  ],
  observe(subnet, world) {
    const object = world.subnets.get(subnet)
    const isThere = world.attachments.get(subnet)?.hasSwitch === true
    return {
      subnet,
      uid: isThere && object?.metadata.deletionTimestamp === undefined ? object?.metadata.uid : undefined,
      isWanted: world.settings.enableLb && world.table(healthChecks).some('subnet', subnet),
      vip: world.vips.get(subnet),
    }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredSource(snapshot)),
}

/** Which subnet of the name it is, and whether it is about to go. */
function lifeOf(subnet: Subnet | undefined): string {
  return JSON.stringify([subnet?.metadata.uid, subnet?.metadata.deletionTimestamp !== undefined])
}
