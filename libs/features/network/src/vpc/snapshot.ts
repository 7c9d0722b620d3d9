import { vpcResource } from '@kube-ovn/kube-api'
import { ignoredAnnotations, ignoredName } from '@kube-ovn/no-effect'
import { observedOf } from '@kube-ovn/domains-control'
import { emptyPlan, familiesOf, isDefaultVpc } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { overlayCidrsAddressSetName } from '@kube-ovn/ovn-names'
import type { ForeignVpc, VpcSnapshot } from './desired.ts'

/** Reads what decides about a VPC. */
export function observeVpc(name: string, world: ControlWorld): VpcSnapshot | ForeignVpc | undefined {
  const { settings } = world
  const object = world.vpcs.get(name)
  const isDefault = isDefaultVpc(name, settings)
  const networks = world.attachments.find('vpc', name)
  if (object === undefined && !isDefault) {
    // Somebody took the finalizer away. Who runs in its subnets is not to notice.
    return networks.length === 0 ? undefined : { name, object, observed: {}, ignored: [], now: world.now() }
  }
  const common = { name, object, observed: observedOf(vpcResource, object, world), now: world.now() }
  const plan = world.vpcPlans.get(name) ?? emptyPlan(name)
  const ignored = ignoredAnnotations('Vpc', object?.metadata.annotations)
  if (plan.isExternal)
    return {
      ...common,
      ignored: [...ignoredName('metadata.name', name, 'a VPC of a router that others made'), ...ignored],
    }
  return {
    ...common,
    ignored,
    isDefault,
    isDeleting: plan.isDeleting,
    defaultSubnet: isDefault ? settings.defaultSubnet.name : defaultSubnetOf(plan.defaultSubnet, networks),
    subnets: networks.map((network) => network.name),
    overlayCidrs: networks
      .filter(({ vlan }) => vlan === '')
      .flatMap((network) => world.prefixes.get(network.name) ?? [])
      .flatMap(familiesOf)
      .map(({ family, cidr }) => ({ family, cidr })),
    hasOutsiders: networks.some(({ isInterconnected }) => isInterconnected),
    peers: plan.peerings.map(({ remote }) => remote),
    externals: plan.externals.map(({ subnet }) => subnet),
    namesExternals: plan.extraExternals.length > 0,
    hasBfd: plan.sessions.length > 0,
    bfdPort: plan.bfdPort,
    problems: [...plan.problems, ...nameProblems(name, world)],
    hasAddressSets: namesake(name, world) === undefined,
  }
}

function defaultSubnetOf(wanted: string, networks: readonly { readonly name: string }[]): string | undefined {
  return networks.some(({ name }) => name === wanted) ? wanted : undefined
}

/** The VPC whose address sets have the same names, since matches know no dash; it has them that comes first by name. */
function namesake(name: string, world: ControlWorld): string | undefined {
  const set = overlayCidrsAddressSetName(name, 4)
  return world.vpcPlans.keys('addressSet', set).find((other) => other < name)
}

function nameProblems(name: string, world: ControlWorld): VpcSnapshot['problems'] {
  const other = namesake(name, world)
  if (other === undefined) return []
  const cure = `choose a name that differs from ${other} in more than dashes and dots: it has no address sets of its own`
  return [{ field: 'metadata.name', value: name, cure }]
}
