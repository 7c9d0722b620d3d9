import { bgpAnnotations } from '@kube-ovn/annotations'
import { tryParseIpv4, tryParseIpv6, type Ip } from '@kube-ovn/ip'
import type { IptablesEip } from '@kube-ovn/kube-api'
import { addressIn, hostPrefix, policyOf, tellingOf, type Tell } from './object.ts'
import type { Announced, AnnouncementProblem } from './snapshot.ts'

/**
 * Says which prefixes the speaker of a NAT gateway announces: the addresses that are annotated and that the gateway answers for.
 *
 * @param eips all of one gateway
 */
export function gatewayPrefixes(eips: Iterable<IptablesEip>): Announced {
  const problems: AnnouncementProblem[] = []
  const prefixes = new Set<string>()
  for (const eip of eips)
    for (const address of announcedAddresses(eip, tellingOf('IptablesEIP', eip, problems)))
      prefixes.add(hostPrefix(address))
  return { prefixes, problems }
}

function announcedAddresses(eip: IptablesEip, tell: Tell): readonly Ip[] {
  const policy = policyOf(eip, tell)
  // It goes with its gateway's answers: neither before they come nor after they have ended.
  if (policy === undefined || eip.status?.ready !== true || eip.metadata.deletionTimestamp !== undefined)
    return []
  if (policy === 'local') {
    tell({ field: bgpAnnotations.policy.key, value: policy, cure: 'write true: a gateway is in one place' })
    return []
  }
  const { v4ip, v6ip } = eip.spec ?? {}
  return [
    ...addressIn('spec.v4ip', v4ip, tryParseIpv4, 'write an IPv4 address', tell),
    ...addressIn('spec.v6ip', v6ip, tryParseIpv6, 'write an IPv6 address', tell),
  ]
}
