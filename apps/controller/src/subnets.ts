import type { Subnet } from '@kube-ovn/kube-api'
import type { SubnetReading } from '@kube-ovn/telemetry'

/** What the published counts of subnets say, of those that have prefixes: of two families, of the one that has less to give. */
export function* readSubnets(subnets: Iterable<Subnet>): Generator<SubnetReading> {
  for (const { metadata, spec, status } of subnets) {
    const cidr = spec?.cidrBlock ?? ''
    if (cidr === '') continue
    const prefixes = cidr.split(',')
    const families = [
      { isIpv6: false, available: status?.v4availableIPs, used: status?.v4usingIPs },
      { isIpv6: true, available: status?.v6availableIPs, used: status?.v6usingIPs },
    ]
      .filter(({ isIpv6 }) => prefixes.some((prefix) => prefix.includes(':') === isIpv6))
      .map(({ available, used }) => ({ available: Number(available ?? 0), used: Number(used ?? 0) }))
      .sort((a, b) => a.available - b.available)
    const [scarce] = families
    if (scarce === undefined) continue
    const protocol = families.length > 1 ? 'Dual' : cidr.includes(':') ? 'IPv6' : 'IPv4'
    yield { name: metadata.name, protocol, cidr, ...scarce }
  }
}
