import { objectTable } from '@kube-ovn/reconcile'
import { groupTable } from '@kube-ovn/tables'
import type { Protocol } from './protocols.ts'
import { servicesByTimeout, serviceWatch } from './watches.ts'

/** A time-out of affinity, other than the usual one, that Services have for a protocol. */
interface OwnTimeout {
  readonly protocol: Protocol
  readonly seconds: number
}

const services = objectTable(serviceWatch)

/** Time-outs that take load balancers of their own, as OVN has one for all entries of a load balancer. */
export const ownTimeouts = groupTable({
  name: 'own-timeouts',
  of: services,
  by: servicesByTimeout,
  rows: (_services, _views, value) => {
    const [protocol, seconds] = value.split('/')
    const timeout: OwnTimeout = { protocol: protocol as Protocol, seconds: Number(seconds) }
    return [[value, timeout] as const]
  },
})
