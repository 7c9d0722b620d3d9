import { isDeepStrictEqual } from 'node:util'
import { forwarderAnnotations } from '@kube-ovn/annotations'
import { familyOf, formatIp } from '@kube-ovn/ip'
import type { Netfilter } from '@kube-ovn/netfilter'
import type { Netlink } from '@kube-ovn/netlink'
import { ForwardingOffError } from '../errors.ts'
import { answerTable, desiredForwarding } from './desired.ts'
import { forwardingSettings } from './sysctls.ts'

/** A Pod's own network namespace. */
export interface ForwardingNamespace {
  readonly netfilter: Pick<Netfilter, 'replaceTable'>
  readonly netlink: Pick<Netlink, 'addresses' | 'routes' | 'replaceRoute' | 'removeRoute' | 'addRule'>
  /** Reads a setting below `net.`. */
  readonly readSysctl: (key: string) => string
}

/**
 * Makes a Pod forward what its annotation says, whatever it forwarded before. Open connections to what is still forwarded stay.
 *
 * Costs one start of nft. It takes CAP_NET_ADMIN in the namespace, and no other right.
 *
 * @throws AnnotationInvalidError, before anything is changed
 * @throws ForwardingOffError when the namespace does not forward, or the Pod has not the address
 * @throws NetlinkError and NftCommandError
 */
export async function applyForwards(text: string, namespace: ForwardingNamespace): Promise<void> {
  const { netfilter, netlink, readSysctl } = namespace
  const forwards = forwarderAnnotations.forwards.parse(text)
  const { table, routes, rules, missing } = desiredForwarding(forwards, netlink.addresses())
  const [absent] = missing
  if (absent !== undefined) {
    const cure =
      'see why the network was not attached: the annotation k8s.v1.cni.cncf.io/network-status of the Pod'
    throw new ForwardingOffError({ field: 'address', value: formatIp(absent), cure })
  }
  for (const { address } of forwards.families) {
    const { key } = forwardingSettings[familyOf(address)]
    const value = readSysctl(key)
    if (value !== '1') {
      const cure = `delete the Pod: the agent of its node sets it for Pods with ${forwarderAnnotations.forwarding.key}`
      throw new ForwardingOffError({ field: `net/${key}`, value, cure })
    }
  }
  // Rules first: nothing goes a way that is not filtered.
  await netfilter.replaceTable(table)
  for (const route of netlink.routes({ table: answerTable }))
    if (!routes.some((wanted) => isDeepStrictEqual(wanted.destination, route.destination)))
      netlink.removeRoute(route)
  for (const route of routes) netlink.replaceRoute(route)
  for (const rule of rules) netlink.addRule(rule)
}
