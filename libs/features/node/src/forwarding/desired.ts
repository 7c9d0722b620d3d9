import type { ForwardedFamily, ForwardedPort, Forwards } from '@kube-ovn/annotations'
import { cidrOf, familyOf, formatIp, networkText, parseIp, type Cidr, type Ip } from '@kube-ovn/ip'
import type { Chain, Expression, NftRule, Statement, Table } from '@kube-ovn/netfilter'
import type { AddressInfo, RouteRequest, RuleRequest } from '@kube-ovn/netlink'

/** The NIC by which a Pod reaches the cluster: containers' first one. */
const clusterNic = 'eth0'

/** Routes of answers. The original has the same number. */
export const answerTable = 100

/** Before the main table, which is asked at 32766. */
const answerPriority = 100

/** What a Pod's network namespace has to have, so that the Pod forwards. */
export interface DesiredForwarding {
  readonly table: Table
  readonly routes: readonly RouteRequest[]
  readonly rules: readonly RuleRequest[]
  /** Addresses that are forwarded, and that the Pod has not. */
  readonly missing: readonly Ip[]
}

/** A forwarded family whose address the Pod has. */
interface AttachedFamily extends ForwardedFamily {
  readonly nic: AddressInfo
}

/**
 * Computes how a Pod forwards: who comes to its address in the attached network is led to the cluster address of the Service, as if the Pod
 * asked there, and answers leave by the network by which the question came, whatever the Pod's default route is.
 *
 * @param addresses those of the Pod; a family whose address it has not is left out
 * @see nft(8), ip-rule(8)
 */
export function desiredForwarding(forwards: Forwards, addresses: readonly AddressInfo[]): DesiredForwarding {
  const families = forwards.families.flatMap((family): readonly AttachedFamily[] => {
    const address = formatIp(family.address)
    const nic = addresses.find(({ cidr }) => cidr.startsWith(`${address}/`))
    return nic === undefined ? [] : [{ ...family, nic }]
  })
  return {
    table: desiredTable(families, forwards),
    routes: families.flatMap(answerRoutes),
    missing: forwards.families
      .map(({ address }) => address)
      .filter((address) => !families.some((family) => family.address === address)),
    rules: families.flatMap(({ nic: { family }, address }) => [
      // What backends answer, and what the Pod itself does, such as that nobody listens on a port.
      { family, priority: answerPriority, inputInterface: clusterNic, table: answerTable },
      {
        ...{ family, priority: answerPriority, table: answerTable },
        from: `${formatIp(address)}/${family === 'ipv4' ? 32 : 128}`,
      },
    ]),
  }
}

function answerRoutes({ nic, gateway }: AttachedFamily): readonly RouteRequest[] {
  const { index, family, cidr } = nic
  const [address = '', length] = cidr.split('/')
  const place = { index, table: answerTable }
  const own = { ...place, destination: networkText(cidrOf(parseIp(address), Number(length))) }
  const everywhere = family === 'ipv4' ? '0.0.0.0/0' : '::/0'
  return gateway === undefined
    ? [own]
    : [own, { ...place, destination: everywhere, gateway: formatIp(gateway), onlink: true }]
}

function desiredTable(families: readonly AttachedFamily[], { ports, sources }: Forwards): Table {
  return {
    family: 'inet',
    name: 'kube-ovn-lb-svc',
    sets: [],
    chains: [
      {
        name: 'prerouting',
        base: { type: 'nat', hook: 'prerouting', priority: -100 },
        rules: families.flatMap((family) => translations(family, ports, sources)),
      },
      filter(families, ports, sources),
      {
        name: 'postrouting',
        base: { type: 'nat', hook: 'postrouting', priority: 100 },
        // Backends answer the Pod, wherever clients are.
        rules: [{ statements: [isTranslated, { masquerade: null }] }],
      },
    ],
  }
}

function translations(
  { address, to }: AttachedFamily,
  ports: readonly ForwardedPort[],
  sources: readonly Cidr[],
): readonly NftRule[] {
  const { protocol, isFrom, isTo } = wordsOf(address)
  const from = sourceMatch(isFrom, sources, address)
  if (from === undefined) return []
  return byProtocol(ports).map(([name, numbers]) => ({
    statements: [
      isTo(formatIp(address)),
      ...from,
      ...portMatch(name, numbers),
      // The port is the Service's own, outside and inside.
      { dnat: { family: protocol, addr: formatIp(to) } },
    ],
  }))
}

/** Only what was translated by a rule that still stands goes through, and what is answered to it. */
function filter(
  families: readonly AttachedFamily[],
  ports: readonly ForwardedPort[],
  sources: readonly Cidr[],
): Chain {
  const questions = families.flatMap(({ address, to }) => {
    const { isFrom, isTo } = wordsOf(address)
    const from = sourceMatch(isFrom, sources, address)
    if (from === undefined) return []
    return byProtocol(ports).map(([name, numbers]): NftRule => ({
      statements: [
        isTranslated,
        isOf('original'),
        isTo(formatIp(to)),
        ...from,
        ...portMatch(name, numbers),
        { accept: null },
      ],
    }))
  })
  return {
    name: 'forward',
    base: { type: 'filter', hook: 'forward', priority: 0, policy: 'drop' },
    rules: [{ statements: [isTranslated, isOf('reply'), { accept: null }] }, ...questions],
  }
}

const isTranslated: Statement = {
  match: { op: 'in', left: { ct: { key: 'status' } }, right: ['dnat'] },
}

function isOf(direction: 'original' | 'reply'): Statement {
  return { match: { op: '==', left: { ct: { key: 'direction' } }, right: direction } }
}

function wordsOf(address: ForwardedFamily['address']): {
  readonly protocol: 'ip' | 'ip6'
  readonly isFrom: (value: Expression) => Statement
  readonly isTo: (value: Expression) => Statement
} {
  const protocol = familyOf(address) === 4 ? 'ip' : 'ip6'
  const match =
    (field: 'saddr' | 'daddr') =>
    (right: Expression): Statement => ({
      match: { op: '==', left: { payload: { protocol, field } }, right },
    })
  return { protocol, isFrom: match('saddr'), isTo: match('daddr') }
}

/** Where there are sources, but none of the family, nobody of that may come. */
function sourceMatch(
  isFrom: (value: Expression) => Statement,
  sources: readonly Cidr[],
  address: ForwardedFamily['address'],
): readonly Statement[] | undefined {
  if (sources.length === 0) return []
  const own = sources.filter((cidr) => familyOf(cidr.address) === familyOf(address))
  if (own.length === 0) return undefined
  // Everybody is no prefix to nft.
  if (own.some(({ prefixLength }) => prefixLength === 0)) return []
  const prefixes = own.map((cidr) => {
    const [addr = ''] = networkText(cidr).split('/')
    return { prefix: { addr, len: cidr.prefixLength } }
  })
  return [isFrom({ set: distinct(prefixes) })]
}

/** A prefix inside of another one would be an overlap, which nft refuses in a set. */
function distinct<P extends { readonly prefix: { readonly addr: string; readonly len: number } }>(
  prefixes: readonly P[],
): readonly P[] {
  const sorted = prefixes.toSorted((a, b) => a.prefix.len - b.prefix.len)
  const kept: P[] = []
  for (const one of sorted) {
    const address = parseIp(one.prefix.addr)
    const isCovered = kept.some(
      ({ prefix: { addr, len } }) =>
        networkText(cidrOf(address, len)) === networkText(cidrOf(parseIp(addr), len)),
    )
    if (!isCovered) kept.push(one)
  }
  return kept
}

function byProtocol(ports: readonly ForwardedPort[]): readonly (readonly [string, readonly number[]])[] {
  const protocols = ['TCP', 'UDP', 'SCTP'] as const
  return protocols.flatMap((protocol) => {
    const numbers = ports.filter((one) => one.protocol === protocol).map(({ port }) => port)
    return numbers.length === 0
      ? []
      : [[protocol.toLowerCase(), [...new Set(numbers)].toSorted((a, b) => a - b)] as const]
  })
}

function portMatch(protocol: string, numbers: readonly number[]): readonly Statement[] {
  return [
    { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: protocol } },
    {
      match: {
        op: '==',
        left: { payload: { protocol: 'th', field: 'dport' } },
        right: { set: numbers },
      },
    },
  ]
}
