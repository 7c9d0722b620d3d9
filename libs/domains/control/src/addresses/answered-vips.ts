import { vipLabel } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import { vipType, type Vip } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { vips } from '../sources.ts'
import { addressesOfVip } from './vip-record.ts'

/** A Vip of a SwitchLBRule: nobody has its addresses, and packets to them are led to backends on their way to the router. */
interface AnsweredVip {
  readonly subnet: string
  readonly addresses: readonly string[]
}

/** The Vips for which the routers of their subnets answer whoever asks for their MAC addresses. */
export const answeredVips = rowTable({
  name: 'answered-vips',
  of: vips,
  row(vip: Vip): AnsweredVip | undefined {
    const { metadata, status } = vip
    const recorded = addressesOfVip(vip)
    const isAnswered = status?.type === vipType.switchLb && metadata.deletionTimestamp === undefined
    if (recorded === undefined || !isAnswered) return undefined
    const { v4, v6 } = recorded.addresses
    return {
      subnet: metadata.labels?.[vipLabel.subnet] ?? '',
      addresses: [v4, v6].filter((ip) => ip !== undefined).map((ip) => formatIp(ip)),
    }
  },
  indexes: { subnet: ({ subnet }: AnsweredVip) => [subnet] },
})
