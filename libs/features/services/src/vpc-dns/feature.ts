import { switchLbRuleResource, vpcDnsResource } from '@kube-ovn/kube-api'
import { configMaps, deployments } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import { clusterDns, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredDns } from './desired.ts'
import { dnsOfName } from './plan.ts'
import { deploymentWatch, observeDns, type DnsSnapshot } from './snapshot.ts'

/** Makes name servers in the Vpc of each VpcDns, and a SwitchLBRule that leads to them. */
export const vpcDns: ControlFeature<string, DnsSnapshot> = {
  name: 'vpc-dns',
  kinds: [],
  watches: [deploymentWatch],
  rights: [
    { resource: deployments, namespace: 'own', verbs: ['create', 'patch', 'delete'], writes: 'applied' },
    { resource: configMaps, namespace: 'own', verbs: ['create', 'patch', 'delete'], writes: 'applied' },
    { resource: switchLbRuleResource, verbs: ['create', 'patch', 'delete'], writes: 'applied' },
    { resource: vpcDnsResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    { on: 'object', resource: vpcDnsResource, keys: (change) => [change.key] },
    // What was made of one that is gone meanwhile.
    { on: 'object', resource: configMaps, keys: madeOf },
    { on: 'object', resource: switchLbRuleResource, keys: madeOf },
    {
      on: 'object',
      resource: deployments,
      keys: (change, world) => (change.key === clusterDns ? all(world) : madeOf(change)),
    },
  ],
  observe: observeDns,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredDns(snapshot)),
}

/** The VpcDns of which the object was made, or would be by its name. */
function madeOf({ old, new: current }: ObjectChange): readonly string[] {
  const name = (current ?? old)?.metadata.name
  const dns = name === undefined ? undefined : dnsOfName(name)
  return dns === undefined ? [] : [dns]
}

function all(world: ControlWorld): readonly string[] {
  return Array.from(world.vpcDnses.scan(), ({ metadata }) => metadata.name)
}
