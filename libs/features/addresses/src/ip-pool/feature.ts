import { conditionType, ipPoolResource, isConditionTrue } from '@kube-ovn/kube-api'
import { ipPoolAddresses } from '@kube-ovn/ovn-names'
import { decidedPools } from '@kube-ovn/domains-control/topology'
import { fact, nothing } from '@kube-ovn/reconcile'
import type { Fact } from '@kube-ovn/reconcile'
import { isNamedAfter, storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredIpPool } from './desired.ts'
import { observeIpPool } from './snapshot.ts'
import type { IpPoolSnapshot } from './snapshot.ts'

/** Sets parts of subnets apart for those who ask for them, and keeps their address sets. */
export const ipPool: ControlFeature<string, IpPoolSnapshot> = {
  name: 'ip-pool',
  kinds: [ipPoolAddresses],
  mayOwn: (pool, { id }) => isNamedAfter(pool, id),
  rights: [
    { resource: ipPoolResource, verbs: ['patch'] },
    { resource: ipPoolResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    { on: 'object', resource: ipPoolResource, keys: ({ key }, world) => [key, ...refusedSets(key, world)] },
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
  desired: (_key, snapshot) =>
    snapshot === undefined ? nothing : { ...desiredIpPool(snapshot), facts: decisions(snapshot) },
}

function decisions({ name, object, decided }: IpPoolSnapshot): readonly Fact[] {
  const { uid } = object.metadata
  return decided === undefined ? [] : [fact(decidedPools, name, { ...decided, uid })]
}

function poolsOf(subnet: string, world: ControlWorld): readonly string[] {
  return world.ipPools.find(storeIndex.poolsBySubnet, subnet).map((pool) => pool.metadata.name)
}

/** The name of the address set that a pool was refused may be free: another one ended or changed. */
function refusedSets(changed: string, world: ControlWorld): readonly string[] {
  return [...world.ipPools.values()]
    .filter(({ spec }) => spec?.enableAddressSet === true)
    .filter((pool) => !isConditionTrue(pool.status?.conditions, conditionType.ready))
    .map((pool) => pool.metadata.name)
    .filter((name) => name !== changed)
}
