import { groupTable } from '@kube-ovn/tables'
import type { Protocol } from './protocols.ts'
import { serviceVpcs } from './service-vpcs.ts'

/** A time-out of affinity, other than the usual one, that Services of a VPC have for a protocol. */
interface OwnTimeout {
  readonly vpc: string
  readonly protocol: Protocol
  readonly seconds: number
}

/** Time-outs that take load balancers of their own, as OVN has one for all entries of a load balancer. */
export const ownTimeouts = groupTable({
  name: 'own-timeouts',
  of: serviceVpcs,
  by: 'timeout',
  rows: (_services, _views, value) => {
    const [vpc = '', protocol, seconds] = value.split('/')
    const timeout: OwnTimeout = { vpc, protocol: protocol as Protocol, seconds: Number(seconds) }
    return [[value, timeout] as const]
  },
  indexes: { vpc: ({ vpc }: OwnTimeout) => [vpc] },
})
