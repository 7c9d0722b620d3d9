import type { KubeOvnError } from '@kube-ovn/errors'
import { lastAddress, type Cidr, type Ip } from '@kube-ovn/ip'
import { PolicyInvalidError } from './errors.ts'
import { highestPort } from './ports.ts'
import type { SecurityAction, SecurityRule } from './security-rule.ts'
import { SpanIndex, everything, type Span } from './span-index.ts'

const strictness: readonly SecurityAction[] = ['drop', 'pass', 'allow-related']

/** So many rules are in an index at a time: it has a bit for each of them at each end of a span. */
const atOnce = 1024

/** Of rules that contradict each other, those that let less through. */
export function strictest(rules: readonly SecurityRule[]): {
  readonly kept: readonly SecurityRule[]
  readonly refused: readonly KubeOvnError[]
} {
  const stricter = new Map(
    [...Map.groupBy(rules, ({ priority, family }) => `${priority} ${family}`).values()].flatMap(contradicted),
  )
  return {
    kept: rules.filter((rule) => !stricter.has(rule)),
    refused: rules.flatMap((rule) => {
      const other = stricter.get(rule)
      return other === undefined ? [] : [contradiction(rule, other)]
    }),
  }
}

function contradiction({ field, priority }: SecurityRule, other: SecurityRule): KubeOvnError {
  const cure = `give it another one than ${other.field}, which is about the same traffic; until then it has no effect`
  return new PolicyInvalidError({ field: `${field}.priority`, value: String(priority), cure })
}

/**
 * Of rules of one priority and family those that one may contradict which is stricter, with the first of the strictest of these.
 *
 * A tenant may write thousands: they are not compared each with each, but looked up in what the stricter ones are about.
 */
function contradicted(rules: readonly SecurityRule[]): readonly (readonly [SecurityRule, SecurityRule])[] {
  const found: (readonly [SecurityRule, SecurityRule])[] = []
  const stricter: SecurityRule[] = []
  for (const action of strictness) {
    let open = rules.filter((rule) => rule.action === action)
    const own = open
    for (let start = 0; start < stricter.length && open.length > 0; start += atOnce) {
      const some = stricter.slice(start, start + atOnce)
      const firstMeeting = lookup(some)
      open = open.filter((rule) => {
        const other = some[firstMeeting(rule)]
        if (other !== undefined) found.push([rule, other])
        return other === undefined
      })
    }
    stricter.push(...own)
  }
  return found
}

/** Tells the place of the first of some rules that may be about a packet that another rule is about; -1 for none. */
function lookup(rules: readonly SecurityRule[]): (rule: SecurityRule) => number {
  const indexes = aspects.map((spanOf) => ({ spanOf, index: new SpanIndex(rules.map(spanOf)) }))
  return (rule) =>
    lowestBit(indexes.reduce((both, { spanOf, index }) => both & index.meeting(spanOf(rule)), all(rules)))
}

function all(rules: readonly SecurityRule[]): bigint {
  return (1n << BigInt(rules.length)) - 1n
}

/** -1 where there is none. */
function lowestBit(bits: bigint): number {
  if (bits === 0n) return -1
  const [lowest = '', ...rest] = (bits & -bits).toString(16)
  return rest.length * 4 + Math.log2(Number.parseInt(lowest, 16))
}

/** What decides whether two rules may be about one packet: they may if all of it has something in common. */
const aspects: readonly ((rule: SecurityRule) => Span)[] = [
  // Who is in a group changes.
  ({ remote }) => (remote.kind === 'group' ? everything : addressSpan(remote.address)),
  ({ local }) => (local === undefined ? everything : addressSpan(local)),
  ({ traffic: { protocol } }) => {
    const number = protocols.indexOf(protocol)
    return protocol === 'all' ? everything : [number, number]
  },
  ({ traffic }) => ('to' in traffic ? traffic.to : everyPort),
  ({ traffic }) => ('to' in traffic ? (traffic.from ?? everyPort) : everyPort),
]

const protocols: readonly SecurityRule['traffic']['protocol'][] = ['icmp', 'tcp', 'udp', 'sctp']
const everyPort: Span = [1, highestPort]

function addressSpan(address: Ip | Cidr): Span {
  return typeof address === 'object' ? [address.network, lastAddress(address)] : [address, address]
}
