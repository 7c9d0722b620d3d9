import { formatIp, linkLocalOf, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'

/** From which addresses a switch asks hosts for the multicast groups that they are in. */
export interface Querier {
  readonly mac: string
  /** Of its queries by IGMP, absent on a switch without IPv4. */
  readonly v4: string | undefined
  /** Of its queries by MLD, absent on a switch without IPv6. Hosts answer a link-local source alone (RFC 3810, 5.1.14). */
  readonly v6: string | undefined
}

/** The queriers of Subnets that snoop multicast, once their status says the address. */
export const queriers = rowTable({
  name: 'queriers',
  of: subnets,
  row: ({ spec, status }): Querier | undefined => {
    const mac = tryParseMac(status?.mcastQuerierMAC ?? '')
    if (spec?.enableMulticastSnoop !== true || mac === undefined) return undefined
    const texts = (status?.mcastQuerierIP ?? '').split(',')
    const addresses = texts.map((text) => tryParseIp(text.trim())).filter((ip) => ip !== undefined)
    if (addresses.length === 0) return undefined
    const v4 = addresses.find((ip) => typeof ip === 'number')
    const hasV6 = addresses.some((ip) => typeof ip === 'bigint')
    return {
      mac,
      v4: v4 === undefined ? undefined : formatIp(v4),
      v6: hasV6 ? formatIp(linkLocalOf(mac)) : undefined,
    }
  },
})
