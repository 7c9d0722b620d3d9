import { conditionType, ipPoolResource, isConditionTrue } from '@kube-ovn/kube-api'
import { ipPoolAddresses } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredIpPool } from './desired.ts'
import { observeIpPool } from './snapshot.ts'
import type { IpPoolSnapshot } from './snapshot.ts'

/** Sets parts of subnets apart for those who ask for them, and keeps their address sets. */
export const ipPool: ControlFeature<string, IpPoolSnapshot> = {
  name: 'ip-pool',
  kinds: [ipPoolAddresses],
  rights: [
    { resource: ipPoolResource, verbs: ['patch'] },
    { resource: ipPoolResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    {
      on: 'object',
      resource: ipPoolResource,
      // What a pool was refused for may be gone: another one ended or changed.
      keys: (change, world) => [change.key, ...refusedPools(world).filter((name) => name !== change.key)],
    },
    { on: 'signal', signal: 'network', keys: (subnet, world) => poolsOf(subnet, world) },
    // A deleted pool waits for the last of its addresses.
    {
      on: 'signal',
      signal: 'addresses',
      keys: (subnet, world) =>
        poolsOf(subnet, world).filter(
          (name) => world.ipPools.get(name)?.metadata.deletionTimestamp !== undefined,
        ),
    },
  ],
  observe: observeIpPool,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredIpPool(snapshot)),
}

function poolsOf(subnet: string, world: ControlWorld): readonly string[] {
  return world.ipPools.find(storeIndex.poolsBySubnet, subnet).map((pool) => pool.metadata.name)
}

function refusedPools(world: ControlWorld): readonly string[] {
  return [...world.ipPools.values()]
    .filter((pool) => !isConditionTrue(pool.status?.conditions, conditionType.ready))
    .map((pool) => pool.metadata.name)
}
