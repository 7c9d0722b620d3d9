import { externalGatewayLabel, nodeAnnotations } from '@kube-ovn/annotations'
import { overlaps } from '@kube-ovn/ip'
import { ovnEipType, type OvnEip } from '@kube-ovn/kube-api'
import { routerPortName } from '@kube-ovn/ovn-names'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { subnetOfEip, writtenTypeOfEip } from '../addresses/eip-record.ts'
import { nodes, ovnEips, settingsOf, settingsTable } from '../sources.ts'
import { vpcsOfEip } from './eip-owner.ts'
import { layouts, type Layout } from './layouts.ts'
import { cidrsOf } from './network.ts'
import type { SharedClaim, VpcPeering, VpcProblem } from './vpc-spec.ts'
import { isDefaultVpc } from './vpc-tenancy.ts'

/** A connection of a VPC to an external subnet. */
export interface ExternalConnection {
  readonly subnet: string
  /** The OvnEip with the addresses of the router there; its port has the same name. */
  readonly eip: string
}

/** The nodes by way of which routers reach external networks, of those that have a chassis. */
export const externalGateways = rowTable({
  name: 'external-gateways',
  of: nodes,
  row: ({ metadata: { labels, annotations } }): { readonly chassis: string } | undefined => {
    const chassis = annotations?.[nodeAnnotations.chassis.key] ?? ''
    return labels?.[externalGatewayLabel] === 'true' && chassis !== '' ? { chassis } : undefined
  },
})

export const externalReads = { layouts, settingsTable, externalGateways, ovnEips }

type Views = { readonly [N in keyof typeof externalReads]: ViewOf<(typeof externalReads)[N]> }

interface Wanted {
  readonly subnet: string
  readonly field: string
}

/** What of the connections that a VPC asks for can be made, and what is in the way of the others or of their use. */
export function externalsOf(
  claim: SharedClaim,
  own: readonly Layout[],
  peerings: readonly VpcPeering[],
  views: Views,
): { readonly externals: readonly ExternalConnection[]; readonly problems: readonly VpcProblem[] } {
  const wanted = wantedBy(claim, views)
  const refused = wanted.map((one) => refusalOf(claim, one, own, peerings, views))
  const externals = wanted
    .filter((_one, place) => refused[place] === undefined)
    .map(({ subnet }) => ({ subnet, eip: routerPortName(claim.name, subnet) }))
  return {
    externals,
    problems: [
      ...refused.flatMap((problem) => problem ?? []),
      ...(externals.length > 0 ? lackOfGateways(views) : []),
      ...(claim.extraExternals.length > 0 && !claim.enableExternal ? [idleExtras(claim)] : []),
    ],
  }
}

function wantedBy({ enableExternal, extraExternals }: SharedClaim, views: Views): readonly Wanted[] {
  if (!enableExternal) return []
  if (extraExternals.length === 0)
    return [{ subnet: settingsOf(views.settingsTable).externalSubnet, field: 'spec.enableExternal' }]
  return extraExternals.map((subnet, place) => ({ subnet, field: `spec.extraExternalSubnets[${place}]` }))
}

function idleExtras({ extraExternals }: SharedClaim): VpcProblem {
  const value = extraExternals.join()
  return { field: 'spec.extraExternalSubnets', value, cure: 'set enableExternal, too, or remove it' }
}

function refusalOf(
  { name, extraExternals }: SharedClaim,
  { subnet, field }: Wanted,
  own: readonly Layout[],
  peerings: readonly VpcPeering[],
  views: Views,
): VpcProblem | undefined {
  const settings = settingsOf(views.settingsTable)
  const problem = (cure: string): VpcProblem => ({ field, value: subnet, cure })
  if (isDefaultVpc(name, settings))
    return problem('take it out: the default VPC has no connections yet; make a Vpc for what is to have one')
  if (extraExternals.length === 0 && !settings.enableEipSnat)
    return problem(
      'start the controller with --enable-eip-snat, or name subnets in spec.extraExternalSubnets',
    )
  const network = views.layouts.get(subnet)
  if (network === undefined)
    return problem('create a Subnet of this name, or see the conditions of the one there is')
  if (!network.hasSwitch) return problem('name another Subnet: this one has no switch')
  if (network.vlan !== '' && network.isRouted && !network.isInterconnected)
    return problem('switch logicalGateway of this Subnet off')
  const overlapped = own.find((one) => areOverlapping(cidrsOf(one), cidrsOf(network)))
  if (overlapped !== undefined)
    return problem(
      `choose a Subnet whose prefixes do not overlap those of subnet ${overlapped.name} of the VPC`,
    )
  const peering = peerings.find((one) => areOverlapping(one.networks, cidrsOf(network)))
  if (peering !== undefined) return problem(`choose a Subnet that does not overlap ${peering.field}`)
  const port = routerPortName(name, subnet)
  const namesake =
    own.some((one) => one.hasSwitch && routerPortName(name, one.name) === port) ||
    peerings.some(({ remote }) => routerPortName(name, remote) === port)
  if (namesake) return problem(`choose a Subnet of another name: the router has another port ${port}`)
  const eip = views.ovnEips.get(port)
  const cure = eip && cureOf(eip, name, subnet, views)
  return cure === undefined ? undefined : problem(cure)
}

/** What to do about an OvnEip that has the name, and can not be the port's. One that has addresses goes by these, whatever is written of it. */
function cureOf(eip: OvnEip, vpc: string, subnet: string, views: Views): string | undefined {
  const { name } = eip.metadata
  const other = subnetOfEip(eip, { settings: settingsOf(views.settingsTable), attachments: views.layouts })
  const holder = vpcsOfEip(eip).find((one) => one !== vpc)
  if (holder !== undefined && other !== subnet)
    return `choose a Subnet of another name, or another name for the Vpc: OvnEip ${name}, which it would have, Vpc ${holder} has`
  if (other !== subnet)
    return `delete the OvnEip ${name}, which is in Subnet ${other}, or create it anew with externalSubnet ${subnet}`
  const type = writtenTypeOfEip(eip)
  return type === '' || type === ovnEipType.routerPort
    ? undefined
    : `delete the OvnEip ${name}, which is of type ${type}, or create it anew as ${ovnEipType.routerPort}`
}

function areOverlapping(ours: ReturnType<typeof cidrsOf>, theirs: ReturnType<typeof cidrsOf>): boolean {
  return ours.some((cidr) => theirs.some((other) => overlaps(cidr, other)))
}

function lackOfGateways({ externalGateways: gateways }: Views): readonly VpcProblem[] {
  if (gateways.scan().length > 0) return []
  const cure = `label a node ${externalGatewayLabel}=true whose agent runs: there is no gateway node`
  return [{ field: 'spec.enableExternal', value: 'true', cure }]
}
