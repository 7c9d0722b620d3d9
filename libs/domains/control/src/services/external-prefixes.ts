import { contains, familyOf, type DualStackCidr, type Ip } from '@kube-ovn/ip'
import type { Service } from '@kube-ovn/kube-api/core'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { settingsOf, settingsTable, subnets } from '../sources.ts'
import { interconnections } from '../topology/interconnections.ts'
import { layouts } from '../topology/layouts.ts'

/** An underlay Subnet in which addresses of external load balancers may lie. */
export interface ExternalPrefixes {
  readonly subnet: string
  readonly cidrs: DualStackCidr
}

/**
 * Underlay Subnets of the default VPC in which addresses of external load balancers may lie, and which OVN can serve: the router brings what was
 * translated to its backend, and the load balancers are on the switch.
 */
export const externalPrefixes = rowTable({
  name: 'external-prefixes',
  of: interconnections,
  reads: { layouts, subnets, settingsTable },
  row: (_interconnection, views, subnet): ExternalPrefixes | undefined => {
    const layout = views.layouts.get(subnet)
    const { enableExternalLBAddress = false, enableLb } = views.subnets.get(subnet)?.spec ?? {}
    const isBalanced = enableLb ?? settingsOf(views.settingsTable).enableLb
    if (layout?.isDefaultVpc !== true || !enableExternalLBAddress || !isBalanced) return undefined
    return { subnet, cidrs: layout.cidrs }
  },
})

/** Those that a Service may have an address in. */
export function externalFor(
  { spec }: Service,
  views: { readonly externalPrefixes: Pick<ViewOf<typeof externalPrefixes>, 'scan'> },
): readonly ExternalPrefixes[] {
  return spec?.type === 'LoadBalancer' ? views.externalPrefixes.scan() : []
}

/** The Subnet that an address lies in. */
export function subnetOfExternal(ip: Ip, external: readonly ExternalPrefixes[]): string | undefined {
  return external.find(({ cidrs }) => {
    const cidr = familyOf(ip) === 4 ? cidrs.v4 : cidrs.v6
    return cidr !== undefined && contains(cidr, ip)
  })?.subnet
}
