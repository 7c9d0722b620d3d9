import { vpcResource } from '@kube-ovn/kube-api'
import { logicalRouter, overlayCidrs } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredForeign, desiredVpc } from './desired.ts'
import type { ForeignVpc, VpcSnapshot } from './desired.ts'
import { observeVpc } from './snapshot.ts'

/** Keeps the logical router of each VPC, and the status of the Vpc that describes it. */
export const vpc: ControlFeature<string, VpcSnapshot | ForeignVpc> = {
  name: 'vpc',
  kinds: [logicalRouter, overlayCidrs],
  rights: [
    { resource: vpcResource, verbs: ['create', 'patch'] },
    { resource: vpcResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [{ on: 'object', resource: vpcResource, keys: (change) => [change.key] }],
  // Subnets keep the routers of Vpcs that are gone.
  initialKeys: ({ settings, attachments }) =>
    new Set([
      settings.clusterRouter,
      ...attachments.scan().flatMap(({ vpc: name }) => (name === '' ? [] : [name])),
    ]),
  mayOwn: (name, { kind, id }) => (kind === overlayCidrs.name ? id.startsWith(`${name}/`) : id === name),
  observe: observeVpc,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return 'subnets' in snapshot ? desiredVpc(snapshot) : desiredForeign(snapshot)
  },
}
