import { vpcResource } from '@kube-ovn/kube-api'
import { logicalRouter, vpcPolicy } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { comesOrGoes, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredPolicies } from './desired.ts'
import type { PoliciesSnapshot } from './desired.ts'

/** Keeps the policies that users give the router of a VPC. */
export const vpcPolicies: ControlFeature<string, PoliciesSnapshot | typeof kept> = {
  name: 'vpc-policy',
  kinds: [vpcPolicy],
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }],
  // Policies of before are there although nobody asks for any by now.
  initialKeys: ({ settings }) => [settings.clusterRouter],
  mayOwn: (vpc, { id }) => id.startsWith(`${vpc}/`),
  observe: (vpc, world) =>
    partOfVpc(vpc, world, () => ({ vpc, policies: world.routerPolicies.get(vpc) ?? [] })),
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === kept ? { ...nothing, hold: true } : desiredPolicies(snapshot)
  },
}
