import { contains, tryParseIp, tryParseMac, type DualStackIp } from '@kube-ovn/ip'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { layouts } from './layouts.ts'

/** The router's port in an underlay Subnet that is connected to it. */
export interface Interconnection {
  readonly addresses: DualStackIp
  readonly mac: string
}

/** Connections of underlay Subnets, once the status says their addresses. */
export const interconnections = rowTable({
  name: 'interconnections',
  of: layouts,
  reads: { subnets },
  row: ({ isInterconnected, vpc, cidrs }, views, name): Interconnection | undefined => {
    if (!isInterconnected) return undefined
    const { u2oInterconnectionIP, u2oInterconnectionMAC, u2oInterconnectionVPC } =
      views.subnets.get(name)?.status ?? {}
    const mac = tryParseMac(u2oInterconnectionMAC ?? '')
    if (mac === undefined || u2oInterconnectionVPC !== vpc) return undefined
    const ips = (u2oInterconnectionIP ?? '').split(',').map((text) => tryParseIp(text.trim()))
    const { v4: prefix4, v6: prefix6 } = cidrs
    const v4 = ips.find((ip) => typeof ip === 'number')
    const v6 = ips.find((ip) => typeof ip === 'bigint')
    const addresses = {
      v4: v4 !== undefined && prefix4 !== undefined && contains(prefix4, v4) ? v4 : undefined,
      v6: v6 !== undefined && prefix6 !== undefined && contains(prefix6, v6) ? v6 : undefined,
    }
    return addresses.v4 === undefined && addresses.v6 === undefined ? undefined : { addresses, mac }
  },
  indexes: {
    family: ({ addresses: { v4, v6 } }) => [
      ...(v4 === undefined ? [] : ['4']),
      ...(v6 === undefined ? [] : ['6']),
    ],
  },
})
