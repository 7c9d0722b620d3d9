import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import type { Node } from '@kube-ovn/kube-api/core'
import { centralGatewayPolicy, logicalRouter } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import {
  egressFlags,
  familiesOf,
  hasOtherNetwork,
  joinAddress,
  subnetBegins,
  subnetSays,
  unusable,
} from '@kube-ovn/domains-control/topology'
import { desiredEgress, type EgressSnapshot } from './desired.ts'

/** Lets traffic of a subnet leave by way of few nodes, or to a gateway outside of the cluster. */
export const subnetEgress: ControlFeature<string, EgressSnapshot | typeof unusable> = {
  name: 'subnet-egress',
  kinds: [centralGatewayPolicy],
  mayOwn: (subnet, { id }) => isNamedAfter(subnet, id),
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  flags: egressFlags,
  triggers: [
    subnetBegins,
    subnetSays(({ egress, activateGateway }) => [egress, activateGateway]),
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) =>
        hasOtherNetwork(change) ? world.gatewayStates.keys('carrier', change.key) : [],
    },
  ],
  observe: observeEgress,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredEgress(snapshot)
  },
}

function observeEgress(subnet: string, world: ControlWorld): EgressSnapshot | typeof unusable | undefined {
  if (world.subnets.get(subnet) === undefined) return undefined
  const attachment = world.attachments.get(subnet)
  const prefixes = world.prefixes.get(subnet)
  if (attachment === undefined || prefixes === undefined) return unusable
  const state = world.gatewayStates.get(subnet)
  const carriers = state?.carriers ?? []
  const isHeld = state !== undefined && state.published === undefined
  return {
    ...{ subnet, vpc: attachment.vpc },
    families: familiesOf(prefixes).map(({ family, cidr }) => ({
      ...{ family, cidr },
      nextHops: carriers.flatMap((node) => {
        const address = joinAddress(node, family, world)
        return address === undefined ? [] : [{ node, address }]
      }),
    })),
    status: isHeld ? undefined : { active: state?.active, published: state?.published },
  }
}
