import { vpcResource, type Vpc } from '@kube-ovn/kube-api'
import { ignoredAnnotations, ignoredFields, ignoredName, type Ignored } from '@kube-ovn/no-effect'
import { observedOf } from '@kube-ovn/domains-control'
import { familiesOf } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { UnservedVpc, VpcSnapshot } from './desired.ts'

/** Reads what decides about a VPC. */
export function observeVpc(name: string, world: ControlWorld): VpcSnapshot | UnservedVpc | undefined {
  const { settings } = world
  const object = world.vpcs.get(name)
  const now = world.now()
  const observed = observedOf(vpcResource, object, world)
  if (name !== settings.clusterRouter) {
    const ignored = ignoredName('metadata.name', name, 'a further VPC')
    return object && { name, object, observed, ignored: [...ignored, ...ignoredOf(object)], now }
  }
  const networks = world.networks.find('vpc', name)
  return {
    name,
    object,
    observed,
    ignored: ignoredOf(object),
    now,
    defaultSubnet: settings.defaultSubnet.name,
    subnets: networks.map((network) => network.name),
    overlayCidrs: networks.flatMap(familiesOf).map(({ family, cidr }) => ({ family, cidr })),
  }
}

function ignoredOf(object: Vpc | undefined): readonly Ignored[] {
  return [...ignoredFields('vpc', object?.spec), ...ignoredAnnotations('Vpc', object?.metadata.annotations)]
}
