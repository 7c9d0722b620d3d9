import { vpcResource } from '@kube-ovn/kube-api'
import { logicalRouter, overlayCidrs } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredUnserved, desiredVpc } from './desired.ts'
import type { UnservedVpc, VpcSnapshot } from './desired.ts'
import { observeVpc } from './snapshot.ts'

/** Keeps the logical router of the default VPC, and the Vpc object that describes it. */
export const vpc: ControlFeature<string, VpcSnapshot | UnservedVpc> = {
  name: 'vpc',
  kinds: [logicalRouter, overlayCidrs],
  rights: [
    { resource: vpcResource, verbs: ['create', 'patch'] },
    { resource: vpcResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [{ on: 'object', resource: vpcResource, keys: (change) => [change.key] }],
  initialKeys: (world) => [world.settings.clusterRouter],
  observe: observeVpc,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return 'subnets' in snapshot ? desiredVpc(snapshot) : desiredUnserved(snapshot)
  },
}
