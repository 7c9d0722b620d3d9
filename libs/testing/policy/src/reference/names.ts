import { tryParseIp } from '@kube-ovn/ip'
import type { DnsNameResolver } from '@kube-ovn/kube-api'
import { worldTime } from '../policy-world.ts'
import type { Question } from './known.ts'

type Answer = NonNullable<
  NonNullable<DnsNameResolver['status']>['resolvedNames']
>[number]['resolvedAddresses'][number]

const graceMs = 10 * 60_000
const dayMs = 24 * 60 * 60_000

/**
 * Whether the peer has an address that name servers answered for a DNS name, as far as it counts for a rule that denies, or one that does not.
 *
 * @see docs/user/policies.md
 */
export function isNamed(name: string, { objects, peer }: Question, isDenying: boolean): boolean {
  const domain = `${name.toLowerCase().replace(/\.$/, '')}.`
  return objects.dnsNameResolvers
    .filter(({ spec }) => spec?.name === domain)
    .flatMap(({ status }) => status?.resolvedNames ?? [])
    .flatMap(({ resolvedAddresses }) =>
      resolvedAddresses.filter((one) =>
        isCounted(one, resolvedAddresses, domain.startsWith('*') && !isDenying),
      ),
    )
    .some(({ ip }) => tryParseIp(ip) === tryParseIp(peer.address))
}

/** What was learned last of a family has no end, unless names of a wildcard may be forgotten. */
function isCounted(one: Answer, all: readonly Answer[], isForgotten: boolean): boolean {
  const ofFamily = all.filter(
    ({ ip }) => tryParseIp(ip) !== undefined && ip.includes(':') === one.ip.includes(':'),
  )
  const isLast = ofFamily.every(({ lastLookupTime }) => lastLookupTime <= one.lastLookupTime)
  const end = Date.parse(one.lastLookupTime) + one.ttlSeconds * 1000 + graceMs
  if (isLast && !isForgotten) return true
  return (isLast ? end + dayMs : end) > worldTime
}
