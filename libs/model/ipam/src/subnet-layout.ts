import {
  blockRange,
  contains,
  formatIp,
  ipv4Space,
  ipv6Space,
  isIpv4,
  isIpv4Range,
  isIpv6,
  networkText,
  tryParseIpRange,
  usableRange,
  type Cidr,
  type DualStack,
  type Ip,
  type IpRange,
  type Ipv4,
  type Ipv6,
} from '@kube-ovn/ip'
import { CidrInvalidError, ExcludeIpsError, GatewayOutsideError } from './errors.ts'
import { layOut, type FamilyLayout } from './family-layout.ts'
import type { SubnetSpec } from './lease.ts'

export interface SubnetLayout {
  readonly v4: FamilyLayout<Ipv4> | undefined
  readonly v6: FamilyLayout<Ipv6> | undefined
  readonly ignoredExcludeIps: readonly ExcludeIpsError[]
}

/** Turns what the user wrote into what there is to hand out. @throws CidrInvalidError and GatewayOutsideError */
export function layOutSubnet(spec: SubnetSpec): SubnetLayout {
  const { name, cidrs, gateways } = spec
  requireFamilies(name, 'cidrs', { v4: cidrs.v4?.address, v6: cidrs.v6?.address })
  requireFamilies(name, 'gateways', gateways)
  if (cidrs.v4 !== undefined && cidrs.v6 !== undefined) {
    for (const [family, gateway] of [['IPv4', gateways.v4] as const, ['IPv6', gateways.v6] as const]) {
      if (gateway !== undefined) continue
      const cure = `give the ${family} gateway too: a dual-stack subnet has two`
      throw new CidrInvalidError({ subnet: name, field: 'gateways', value: '', cure })
    }
  }
  for (const cidr of [cidrs.v4, cidrs.v6]) if (cidr !== undefined) checkSize(name, cidr)
  checkGateway(name, cidrs.v4, gateways.v4)
  checkGateway(name, cidrs.v6, gateways.v6)
  const excluded = parseExcludeIps(name, spec.excludeIps)
  const v4 =
    cidrs.v4?.family === 4
      ? layOut(
          ipv4Space,
          networkText(cidrs.v4),
          blockRange(cidrs.v4),
          usableRange(cidrs.v4),
          gateways.v4 !== undefined && isIpv4(gateways.v4) ? gateways.v4 : undefined,
          excluded.v4.map(({ range }) => range),
        )
      : undefined
  const v6 =
    cidrs.v6?.family === 6
      ? layOut(
          ipv6Space,
          networkText(cidrs.v6),
          blockRange(cidrs.v6),
          usableRange(cidrs.v6),
          gateways.v6 !== undefined && isIpv6(gateways.v6) ? gateways.v6 : undefined,
          excluded.v6.map(({ range }) => range),
        )
      : undefined
  return {
    v4,
    v6,
    ignoredExcludeIps: [
      ...excluded.malformed,
      ...outside(name, excluded.v4, v4),
      ...outside(name, excluded.v6, v6),
    ],
  }
}

/** A prefix or gateway under the wrong family is a defect of the caller, but must not corrupt the state. */
function requireFamilies(subnet: string, field: string, ips: DualStack<Ip>): void {
  const wrong =
    ips.v4 !== undefined && !isIpv4(ips.v4)
      ? ips.v4
      : ips.v6 !== undefined && !isIpv6(ips.v6)
        ? ips.v6
        : undefined
  if (wrong === undefined) return
  const cure = 'give IPv4 under v4 and IPv6 under v6'
  throw new CidrInvalidError({ subnet, field, value: formatIp(wrong), cure })
}

function checkSize(subnet: string, cidr: Cidr): void {
  const longest = cidr.family === 4 ? 31 : 127
  if (cidr.prefixLength <= longest) return
  const cure = `use a prefix with room for a gateway and a pod, at most /${longest}`
  throw new CidrInvalidError({ subnet, field: 'cidrs', value: networkText(cidr), cure })
}

function checkGateway(subnet: string, cidr: Cidr | undefined, gateway: Ip | undefined): void {
  if (cidr === undefined || gateway === undefined || contains(cidr, gateway)) return
  throw new GatewayOutsideError({ subnet, value: formatIp(gateway), cidr: networkText(cidr) })
}

interface Exclusion<A extends Ip> {
  readonly text: string
  readonly range: IpRange<A>
}

function parseExcludeIps(
  subnet: string,
  entries: readonly string[],
): {
  readonly v4: readonly Exclusion<Ipv4>[]
  readonly v6: readonly Exclusion<Ipv6>[]
  readonly malformed: readonly ExcludeIpsError[]
} {
  const v4: Exclusion<Ipv4>[] = []
  const v6: Exclusion<Ipv6>[] = []
  const malformed: ExcludeIpsError[] = []
  for (const text of entries) {
    // Prefixes belong into IPPools; here they never had an effect.
    const range = text.includes('/') ? undefined : tryParseIpRange(text)
    if (range === undefined) {
      const cure = 'write an address, or a range like 10.16.0.10..10.16.0.20 with the lower end first'
      malformed.push(new ExcludeIpsError({ subnet, value: text, cure }))
    } else if (isIpv4Range(range)) v4.push({ text, range })
    else v6.push({ text, range })
  }
  return { v4, v6, malformed }
}

function outside<A extends Ip>(
  subnet: string,
  exclusions: readonly Exclusion<A>[],
  layout: FamilyLayout<A> | undefined,
): readonly ExcludeIpsError[] {
  return exclusions
    .filter(
      ({ range }) =>
        layout === undefined || range.last < layout.block.first || range.first > layout.block.last,
    )
    .map(({ text }) => {
      const cure =
        layout === undefined
          ? 'remove it: the subnet has no addresses of this family'
          : `choose addresses of ${layout.cidr}, or remove it`
      return new ExcludeIpsError({ subnet, value: text, cure })
    })
}
