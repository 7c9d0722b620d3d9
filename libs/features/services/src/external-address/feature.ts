import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import {
  externalAddresses,
  externalPrefixes,
  serviceWatch,
  sliceWatch,
} from '@kube-ovn/domains-control/services'
import { subnetSays } from '@kube-ovn/domains-control/topology'
import { desiredAddresses, type ExternalSnapshot } from './desired.ts'
import { ExternalAddressesUnservedError } from './errors.ts'

/** Tells nodes which addresses of external load balancers in underlay Subnets they lead to backends of their own. */
export const externalAddress: ControlFeature<string, ExternalSnapshot> = {
  name: 'external-address',
  kinds: [],
  watches: [serviceWatch, sliceWatch],
  tables: [externalAddresses, externalPrefixes],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  triggers: [
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        wantOf(old) === wantOf(current) ? [] : [key],
    },
    subnetSays(({ externalAddresses: published }) => published),
  ],
  observe(subnet, world) {
    const object = world.subnets.get(subnet)
    if (object?.metadata.uid === undefined) return undefined
    const all = world.table(externalAddresses).find('subnet', subnet).flat()
    return {
      ...{ subnet, uid: object.metadata.uid, problem: problemOf(object, world) },
      addresses: all.filter((one) => one.subnet === subnet),
    }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredAddresses(snapshot)),
}

/** What of a Subnet is no part of a table. */
function wantOf(subnet: Subnet | undefined): string {
  return JSON.stringify([subnet?.metadata.uid, subnet?.spec?.enableExternalLBAddress, subnet?.spec?.enableLb])
}

function problemOf(
  { metadata: { name }, spec }: Subnet,
  world: ControlWorld,
): ExternalAddressesUnservedError | undefined {
  const attachment = world.attachments.get(name)
  if (spec?.enableExternalLBAddress !== true || attachment === undefined) return undefined
  if (world.table(externalPrefixes).get(name) !== undefined) return undefined
  if (attachment.vlan === '')
    return new ExternalAddressesUnservedError('write it on an underlay Subnet, with a vlan')
  if (!(spec.enableLb ?? world.settings.enableLb))
    return new ExternalAddressesUnservedError(
      'write spec.enableLb true, or remove it: kube-proxy serves them',
    )
  // Its address comes a moment later.
  if (attachment.isInterconnected) return undefined
  return new ExternalAddressesUnservedError(
    'write spec.u2oInterconnection true: by the router what OVN has translated finds its backend',
  )
}
