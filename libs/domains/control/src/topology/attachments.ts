import { tryParseMac } from '@kube-ovn/ip'
import { routerPortName } from '@kube-ovn/ovn-names'
import { factTable } from '@kube-ovn/reconcile'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { routerPorts, settingsOf, settingsTable, subnets } from '../sources.ts'
import { gatewayStates } from './gateway-states.ts'
import { interconnections } from './interconnections.ts'
import { layouts, type Layout } from './layouts.ts'
import type { Network } from './network.ts'
import { networks } from './subnet-states.ts'

/** Where a subnet that is in effect is plugged in: of a network what does not change with its addresses. */
export interface Attachment extends Omit<Layout, keyof Prefixes | 'cidrBlock' | 'gateway'> {
  /** Traffic of each port leaves the cluster by the node that the port is on. */
  readonly leavesByNode: boolean
  /** Traffic of each port for Services goes by the node that the port is on, for OVN does not balance it. */
  readonly isServedByNode: boolean
}

/** The subnets that are in effect, for those whom an edit of addresses does not concern. */
export const attachments = rowTable({
  name: 'attachments',
  of: layouts,
  reads: { gatewayStates, interconnections, subnets, settingsTable },
  row: (
    { cidrs: _cidrs, gateways: _gateways, cidrBlock: _cidrBlock, gateway: _gateway, ...place },
    views,
    name,
  ): Attachment => ({
    ...place,
    isServedByNode:
      place.isDefaultVpc && views.interconnections.get(name) !== undefined && !isBalanced(name, views),
    leavesByNode:
      place.isDefaultVpc &&
      place.isRouted &&
      !place.isInterconnected &&
      !place.isJoin &&
      (views.gatewayStates.get(name)?.carriers ?? []).length === 0,
  }),
  indexes: {
    provider: ({ provider }: Attachment) => [provider],
    vpc: ({ vpc }: Attachment) => [vpc],
    vlan: ({ vlan }: Attachment) => (vlan === '' ? [] : [vlan]),
  },
})

/** Nodes reach its addresses: by the router of the default VPC, or by the physical network, whatever VPC the subnet is of. */
export function isReachedByNodes({ isDefaultVpc, vlan }: Pick<Attachment, 'isDefaultVpc' | 'vlan'>): boolean {
  return isDefaultVpc || vlan !== ''
}

function isBalanced(
  subnet: string,
  views: { readonly subnets: ViewOf<typeof subnets>; readonly settingsTable: ViewOf<typeof settingsTable> },
): boolean {
  const { enableLb } = settingsOf(views.settingsTable)
  return enableLb && (views.subnets.get(subnet)?.spec?.enableLb ?? enableLb)
}

/** The prefixes of a subnet, and its gateways: its share of each address family. */
export type Prefixes = Pick<Layout, 'cidrs' | 'gateways'>

/** The prefixes of subnets that are in effect, for those whom it does not concern which of their addresses are given. */
export const prefixes = rowTable({
  name: 'prefixes',
  of: layouts,
  row: ({ cidrs, gateways }): Prefixes => ({ cidrs, gateways }),
})

/** Which addresses a subnet gives. */
export type Addressing = Pick<Network, 'name' | 'cidrs' | 'cidrBlock' | 'gateways' | 'excludeIps'>

/** The addresses of subnets that are in effect, for those whom nothing else of these concerns. */
export const addressing = rowTable({
  name: 'addressing',
  of: networks,
  row: ({ name, cidrs, cidrBlock, gateways, excludeIps }): Addressing => ({
    ...{ name, cidrs, cidrBlock, gateways, excludeIps },
  }),
})

/** The network whose NICs take their addresses from a Subnet: the one in effect, or else the one specified. */
export const subnetProviders = rowTable({
  name: 'subnet-providers',
  of: subnets,
  reads: { attachments },
  row: ({ spec }, views, name): string | undefined => views.attachments.get(name)?.provider ?? spec?.provider,
  indexes: { provider: (provider: string) => [provider] },
})

/** MAC addresses of the router ports of Subnets, by the name of the Subnet, that this process has seen or made up. */
export const keptRouterMacs = factTable<string>({ name: 'kept-router-macs' })

/**
 * The MAC address of each network's router port: a port that somebody deleted comes back with the one that peers know. None for one
 * that has yet to be made up.
 */
export const routerMacs = rowTable({
  name: 'router-macs',
  of: layouts,
  reads: { keptRouterMacs, routerPorts, interconnections },
  row: ({ name, vpc, isRouted, isInterconnected }, views): string | undefined => {
    if (!isRouted) return undefined
    // That one is leased like those of pods.
    if (isInterconnected) return views.interconnections.get(name)?.mac
    const [port] = views.routerPorts.find('name', routerPortName(vpc, name))
    return views.keptRouterMacs.get(name) ?? tryParseMac(port?.mac ?? '')
  },
})

/** MAC addresses of router ports that are not leased, and that no NIC is given. */
export const gatewayMacs = rowTable({
  name: 'gateway-macs',
  of: layouts,
  reads: { routerMacs },
  row: ({ isInterconnected }, views, name): string | undefined =>
    isInterconnected ? undefined : views.routerMacs.get(name),
})
