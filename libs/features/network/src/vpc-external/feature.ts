import { formatIp } from '@kube-ovn/ip'
import { ovnEipResource, ovnEipType, vpcResource } from '@kube-ovn/kube-api'
import {
  externalRouterPort,
  externalSwitchPort,
  gatewayChassis,
  logicalRouter,
  logicalSwitch,
} from '@kube-ovn/ovn-names'
import { digestOf, nothing } from '@kube-ovn/reconcile'
import { addressesOfEip, subnetOfEip } from '@kube-ovn/domains-control/addresses'
import {
  comesOrGoes,
  kept,
  partOfVpc,
  vpcsOfEip,
  type ExternalConnection,
} from '@kube-ovn/domains-control/topology'
import { storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredExternals, type ConnectionSnapshot, type ExternalsSnapshot } from './desired.ts'

/** Connects routers of VPCs to external subnets, by way of the gateway nodes. */
export const vpcExternals: ControlFeature<string, ExternalsSnapshot | typeof kept> = {
  name: 'vpc-external',
  kinds: [externalRouterPort, externalSwitchPort, gatewayChassis],
  mayOwn: (vpc, { kind, id }) =>
    kind === externalSwitchPort.name ? id.endsWith(`-${vpc}`) : id.startsWith(`${vpc}-`),
  about: { resource: vpcResource },
  memberships: [
    { kind: logicalRouter.name, column: 'ports' },
    { kind: logicalSwitch.name, column: 'ports' },
    { kind: externalRouterPort.name, column: 'gateway_chassis' },
  ],
  rights: [{ resource: ovnEipResource, verbs: ['create', 'delete'] }],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }],
  // A Vpc may have gone while nobody looked.
  initialKeys: ({ ovnEips }) => new Set(ovnEips.scan().flatMap(vpcsOfEip)),
  observe: observeExternals,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === kept ? { ...nothing, hold: true } : desiredExternals(snapshot)
  },
}

function observeExternals(vpc: string, world: ControlWorld): ExternalsSnapshot | typeof kept | undefined {
  const made = world.ovnEips.find(storeIndex.eipsByVpc, vpc).map(({ metadata }) => metadata.name)
  const seen = partOfVpc(vpc, world, () => {
    const externals = world.routerExternals.get(vpc) ?? []
    return {
      vpc,
      // Whose the OvnEips are that are made: there is no more of the Vpc to go by.
      uid: externals.length === 0 ? undefined : world.vpcs.get(vpc)?.metadata.uid,
      connections: externals.map((external) => observeConnection(vpc, external, world)),
      stale: made.filter((name) => externals.every(({ eip }) => eip !== name)),
    }
  })
  if (seen !== undefined) return seen
  return made.length === 0 ? undefined : { vpc, uid: undefined, connections: [], stale: made }
}

function observeConnection(
  vpc: string,
  { subnet, eip }: ExternalConnection,
  world: ControlWorld,
): ConnectionSnapshot {
  const object = world.ovnEips.get(eip)
  const chassis = new Set(world.externalGateways.scan().map((gateway) => gateway.chassis))
  return {
    ...{ subnet, eip, end: undefined },
    chassis: [...chassis].sort((a, b) => (rankOf(vpc, a) < rankOf(vpc, b) ? -1 : 1)),
    ...(object?.status?.type === ovnEipType.routerPort && subnetOfEip(object, world) === subnet
      ? { end: endOf(object, subnet, world) }
      : {}),
  }
}

function endOf(
  eip: Parameters<typeof addressesOfEip>[0],
  subnet: string,
  world: ControlWorld,
): ConnectionSnapshot['end'] {
  const recorded = addressesOfEip(eip)
  const { cidrs } = world.prefixes.get(subnet) ?? {}
  if (recorded?.mac === undefined || cidrs === undefined) return undefined
  const { v4, v6 } = recorded.addresses
  const networks = [[v4, cidrs.v4] as const, [v6, cidrs.v6] as const].flatMap(([ip, cidr]) =>
    ip === undefined || cidr === undefined ? [] : [`${formatIp(ip)}/${cidr.prefixLength}`],
  )
  return networks.length === 0 ? undefined : { mac: eip.status?.macAddress ?? recorded.mac, networks }
}

/** Spreads what is active of many VPCs over the nodes, as upstream does. */
function rankOf(vpc: string, chassis: string): string {
  return digestOf(`${vpc}${chassis}`, 64)
}
