import { formatIp, tryParseIp } from '@kube-ovn/ip'
import type { DnsNameResolver } from '@kube-ovn/kube-api'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { dnsNameResolvers } from '../sources.ts'

/** An address that a DNS name has, or had. */
export interface ResolvedAddress {
  readonly address: string
  /** When a rule that denies is not about it any more, in milliseconds since the epoch; absent while nothing newer is known of the name. */
  readonly until: number | undefined
  /** The same of a rule that lets through. */
  readonly allowedUntil: number | undefined
}

/** What name servers answered for a domain. */
interface ResolvedDomain {
  readonly domain: string
  readonly addresses: readonly ResolvedAddress[]
}

/**
 * How long an address that a name has no more still counts when its TTL is over. Programs go on with connections, and with answers that they
 * keep for themselves: what they began while it was valid should not break because a name has many addresses in turn.
 */
export const graceMs = 600_000

/**
 * How long beyond that rules let through to an address of a name that a wildcard stands for while nobody asks for the name. There may be any
 * number of such names, and who has the address of one that was given up may be anybody. A day, since few
 * connections last longer without anybody on the cluster asking for the name: those that do are cut.
 */
export const forgottenMs = 86_400_000

/** The plugin of CoreDNS leaves an entry as it is if an answer would end its time up to that much earlier or later. */
const slackMs = 5000

/** What is known of names, by their resolvers, whoever made these. */
export const resolvedNames = rowTable({
  name: 'resolved-names',
  of: dnsNameResolvers,
  row: (resolver): ResolvedDomain | undefined => {
    const domain = resolver.spec?.name
    return domain === undefined ? undefined : { domain, addresses: resolvedAddresses(resolver) }
  },
  indexes: { domain: ({ domain }: ResolvedDomain) => [domain] },
})

/**
 * The addresses of a domain, each once.
 *
 * CoreDNS adds to them and takes none away as long as it is answered. What it learned last counts until it learns something else, and so it does
 * while a name server fails: a rule that allows does not break, one that denies does not open. What it learned before ends with its TTL and
 * {@link graceMs}. What nobody asks for any more of a wildcard's names ends {@link forgottenMs} later for rules that let through; others go on to
 * deny it.
 */
export function resolvedAddresses({ spec, status }: DnsNameResolver): readonly ResolvedAddress[] {
  const isWildcard = spec?.name?.startsWith('*.') === true
  const all = new Map<string, ResolvedAddress>()
  for (const { resolvedAddresses: given } of listOf(status?.resolvedNames))
    for (const found of inTime(listOf(given).flatMap(readAddress), isWildcard)) {
      const { address, until, allowedUntil } = found
      const other = all.get(address)
      all.set(
        address,
        other === undefined
          ? found
          : {
              address,
              until: later(other.until, until),
              allowedUntil: later(other.allowedUntil, allowedUntil),
            },
      )
    }
  return [...all.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

interface Answer {
  readonly address: string
  /** Milliseconds since the epoch. */
  readonly learned: number
  readonly expires: number
}

type Given = NonNullable<NonNullable<DnsNameResolver['status']>['resolvedNames']>[number]

function readAddress({
  ip,
  ttlSeconds,
  lastLookupTime,
}: Given['resolvedAddresses'][number]): readonly Answer[] {
  const address = tryParseIp(ip)
  if (address === undefined) return []
  const learned = Date.parse(lastLookupTime)
  return [{ address: formatIp(address), learned, expires: learned + Math.max(0, ttlSeconds) * 1000 }]
}

/** Of each family what was learned last has no end: questions are about one of both. */
function inTime(answers: readonly Answer[], isWildcard: boolean): readonly ResolvedAddress[] {
  return [false, true].flatMap((isV6) => {
    const ofFamily = answers.filter(({ address }) => address.includes(':') === isV6)
    const [learnedLast, expiresLast] = [maximum(ofFamily, 'learned'), maximum(ofFamily, 'expires')]
    return ofFamily.map(({ address, learned, expires }) => {
      const isFormer = learned < learnedLast - slackMs && expires < expiresLast - slackMs
      const until = isFormer ? expires + graceMs : undefined
      const forgotten = isWildcard ? expires + graceMs + forgottenMs : undefined
      return { address, until, allowedUntil: until ?? forgotten }
    })
  })
}

function maximum(answers: readonly Answer[], of: 'learned' | 'expires'): number {
  return answers.reduce((most, { [of]: one }) => Math.max(most, one), -Infinity)
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other)
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  const list: unknown = value
  return value !== undefined && Array.isArray(list) ? value : []
}

/** The addresses that count now, and when the first of them ends. */
export interface NamesNow {
  /** Of the domain, for a rule that does this; none while nothing is known of it. */
  of(domain: string, action: string): readonly string[]
  /** Milliseconds from now; absent where none ends of those that were asked for. */
  endsInMs(): number | undefined
}

/** Reads what counts now of what is known of names. */
export function namesAt(now: number, known: ViewOf<typeof resolvedNames>): NamesNow {
  let next = Infinity
  return {
    of: (domain, action) => {
      const living = known
        .find('domain', domain)
        .flatMap(({ addresses }) => addresses)
        .map(({ address, until, allowedUntil }) => ({
          address,
          end: (action === 'drop' ? until : allowedUntil) ?? Infinity,
        }))
        .filter(({ end }) => end > now)
      next = living.reduce((first, { end }) => Math.min(first, end), next)
      return [...new Set(living.map(({ address }) => address))]
    },
    endsInMs: () => (next === Infinity ? undefined : Math.min(next - now, longestMs)),
  }
}

/** One day: a timer takes no more than 24. */
const longestMs = 86_400_000
