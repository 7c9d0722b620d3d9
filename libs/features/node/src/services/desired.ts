import type {
  BaseChain,
  Chain,
  Concatenation,
  Expression,
  NftMap,
  NftRule,
  NftSet,
  SetElement,
  Statement,
  Table,
  Verdict,
} from '@kube-ovn/netfilter'
import { balance } from './balance.ts'
import type { Backends, ServedPort } from './served-ports.ts'

/** The table that stands in the place of kube-proxy. */
export const servicesTable = { family: 'inet', name: 'kube-ovn-services' } as const

/** Has the packet filter of the node give a connection the node's address (`masquerade` of the table `kube-ovn`). */
const masqueradeMark = 0x4000

/** What a node goes by when it serves Services. */
export interface ServicesSnapshot {
  readonly plans: readonly PortPlan[]
  /** Prefixes of Service addresses. */
  readonly services: readonly string[]
  /** Those of them that the API server names; of what was only configured, others may have addresses. */
  readonly allocated: readonly string[]
  /** Prefixes of pods that the node reaches. */
  readonly pods: readonly string[]
}

const families = [
  { family: 4, protocol: 'ip', nfproto: 'ipv4', type: 'ipv4_addr', loopback: '127.0.0.0/8' },
  { family: 6, protocol: 'ip6', nfproto: 'ipv6', type: 'ipv6_addr', loopback: '::1' },
] as const

type FamilyFacts = (typeof families)[number]

/**
 * Renders what a node does in the place of kube-proxy: what it sends itself, what comes from pods on subnets without load balancers, and what
 * comes from outside is led to backends of Services.
 *
 * - `prerouting` and `output` look a destination up in one map, whatever the number of Services, and translate the first packet of a connection.
 * - Whom a backend could not answer by the same way gets the node's address, by a mark that the table `kube-ovn` goes by.
 * - Addresses and ports behind which nobody is are refused, so that who asks need not wait. What is for a Service address that no Service
 *   has is dropped: one that is about to get it is asked again. None of it goes where other traffic goes.
 *
 * A change is one transaction: at no moment a Service is half there. Established connections do not come by here.
 *
 * @see nft(8), "MAPS", "VERDICT MAPS"
 */
export function desiredServices({ plans, services, allocated, pods }: ServicesSnapshot): Table {
  return {
    ...servicesTable,
    sets: families.flatMap((family) => [
      prefixSet('services', 'prefixes of Service addresses', family, services),
      prefixSet('allocated', 'prefixes of ServiceCIDRs', family, allocated),
      prefixSet('pods', 'prefixes of overlay subnets', family, pods),
      clusterAddresses(family, plans),
    ]),
    maps: families.flatMap((family) => {
      const own = plans.filter(({ port }) => port.family === family.family)
      const all = (name: MapName) => own.flatMap(({ entries }) => entries[name])
      const holders = holdersOf(own)
      const outside = (name: MapName) =>
        own.flatMap((plan) => plan.entries[name].filter(([key]) => holders.get(keyOf(key)) === plan))
      const addresses = [...all('addresses'), ...outside('outside')]
      const nobody = [...all('nobody'), ...outside('outside-nobody')]
      return [
        addressMap('addresses', 'where new connections go', family, addresses),
        portMap('node-ports', 'the same, by ports of the node', family, all('node-ports')),
        addressMap('nobody', 'addresses that nobody is behind', family, nobody),
        portMap('nobody-ports', 'ports of the node that nobody is behind', family, all('nobody-ports')),
        addressMap('guarded', 'addresses that not everybody may ask', family, outside('guarded')),
      ]
    }),
    chains: [
      lookup('prerouting'),
      lookup('output'),
      guard('guard', 'prerouting'),
      // Who is on the node has no right of his own.
      guard('guard-output', 'output'),
      ...(['input', 'forward', 'output'] as const).map(refusals),
      { name: 'refuse', rules: [{ statements: [{ reject: null }] }] },
      ...plans.flatMap(({ chains }) => chains),
    ],
  }
}

/** What a port of a Service adds to the table. A change of a Service makes plans of its own ports alone. */
export interface PortPlan {
  readonly port: ServedPort
  readonly chains: readonly Chain[]
  readonly entries: Readonly<Record<MapName, readonly Entry[]>>
}

/** `addresses` and `nobody` are of cluster addresses. */
type MapName =
  'addresses' | 'outside' | 'node-ports' | 'nobody' | 'outside-nobody' | 'nobody-ports' | 'guarded'

type Entry = readonly [Concatenation, Verdict]

/** Where clients go. */
interface Ways {
  readonly port: ServedPort
  /** Where who asks a cluster address goes; nowhere when there are no backends. */
  readonly inside: string | undefined
  readonly outside: string | undefined
  readonly guard: string | undefined
}

/** Renders what a port of a Service adds to the table. */
export function planOf(port: ServedPort): PortPlan {
  const chains: Chain[] = []
  const add = (name: string, rules: readonly NftRule[]): string => {
    chains.push({ name: `${name}-${port.hash}`, comment: port.id.slice(0, 120), rules })
    return `${name}-${port.hash}`
  }
  const inside =
    port.inside.list.length === 0
      ? undefined
      : add('inside', [{ statements: balance(port, port.inside.list) }])
  // Those of a cluster address are led to by what is there for it already.
  const toBackends = (backends: Backends): readonly NftRule[] => [
    inside !== undefined && backends === port.inside
      ? { statements: [{ goto: { target: inside } }] }
      : { statements: balance(port, backends.list) },
  ]
  const hasOutside = port.externalIps.length > 0 || port.nodePort !== undefined
  const outside =
    hasOutside && (port.outside.list.length > 0 || (port.keepsSource && port.all.list.length > 0))
      ? add('outside', outsideRules(port, add, toBackends))
      : undefined
  const guard =
    port.guarded.addresses.length === 0
      ? undefined
      : add('guard', [
          ...port.guarded.sources.map((prefix) => letIn(port, prefix)),
          { statements: [{ drop: null }] },
        ])
  const ways = { port, inside, outside, guard }
  return {
    ...{ port, chains },
    entries: {
      addresses: inside === undefined ? [] : port.clusterIps.map((ip) => entry(port, ip, inside)),
      outside: outside === undefined ? [] : port.externalIps.map((ip) => entry(port, ip, outside)),
      'node-ports': toNodePorts(ways),
      nobody: inside === undefined ? port.clusterIps.map((ip) => noEntry(port, ip, port.inside)) : [],
      'outside-nobody':
        outside === undefined ? port.externalIps.map((ip) => noEntry(port, ip, port.outside)) : [],
      'nobody-ports': noPorts(ways),
      guarded: toGuards(ways),
    },
  }
}

function outsideRules(
  port: ServedPort,
  add: (name: string, rules: readonly NftRule[]) => string,
  toBackends: (backends: Backends) => readonly NftRule[],
): readonly NftRule[] {
  const marked: NftRule = { statements: [addMark] }
  if (!port.keepsSource) return [marked, ...toBackends(port.outside)]
  const everywhere = add('everywhere', [marked, ...toBackends(port.all)])
  const family = factsOf(port)
  // The policy is about who comes from outside.
  const fromPods = inSet(family, 'saddr', 'pods')
  const fromHere = equals({ fib: { result: 'type', flags: ['saddr'] } }, 'local')
  return [
    ...[fromPods, fromHere].map((isInside) => ({ statements: [isInside, { goto: { target: everywhere } }] })),
    ...(port.hidesSource ? [marked] : []),
    ...(port.outside.list.length > 0 ? toBackends(port.outside) : [{ statements: [{ drop: null }] }]),
  ]
}

function letIn(port: ServedPort, prefix: string): NftRule {
  return { statements: [equals(addressOf(factsOf(port), 'saddr'), element(prefix)), { return: null }] }
}

function toNodePorts({ port, outside }: Ways): readonly Entry[] {
  if (outside === undefined || port.nodePort === undefined) return []
  return [[{ concat: [port.protocol, port.nodePort] }, goTo(outside)]]
}

function noPorts({ port, outside }: Ways): readonly Entry[] {
  if (outside !== undefined || port.nodePort === undefined) return []
  return [[{ concat: [port.protocol, port.nodePort] }, refusal(port.outside)]]
}

function toGuards({ port, guard }: Ways): readonly Entry[] {
  return guard === undefined ? [] : port.guarded.addresses.map((ip) => entry(port, ip, guard))
}

function entry(port: ServedPort, ip: string, chain: string): Entry {
  return [frontend(port, ip), goTo(chain)]
}

function noEntry(port: ServedPort, ip: string, backends: Backends): Entry {
  return [frontend(port, ip), refusal(backends)]
}

function refusal({ areElsewhere }: Backends): Verdict {
  return areElsewhere ? { drop: null } : goTo('refuse')
}

function goTo(target: string): Verdict {
  return { goto: { target } }
}

const destinationPort: Expression = { payload: { protocol: 'th', field: 'dport' } }
const transport: Expression = { meta: { key: 'l4proto' } }

function byAddress(family: FamilyFacts, map: string): Statement {
  const key = { concat: [addressOf(family, 'daddr'), transport, destinationPort] }
  return { vmap: { key, data: `@${map}-${family.family}` } }
}

/** Of an own address of the node, but for its loopback one. */
function byNodePort(family: FamilyFacts, map: string): readonly Statement[] {
  return [
    equals({ meta: { key: 'nfproto' } }, family.nfproto),
    { match: { op: '!=', left: addressOf(family, 'daddr'), right: element(family.loopback) } },
    equals({ fib: { result: 'type', flags: ['daddr'] } }, 'local'),
    { vmap: { key: { concat: [transport, destinationPort] }, data: `@${map}-${family.family}` } },
  ]
}

/**
 * Where kube-proxy looks as well (dstnat).
 *
 * The node chooses its own address by its way to the cluster address, which may be another one than that to the backend: it gets that of
 * the latter, as who comes from outside does. So do pods, also those of an underlay: OVN would bring them the answers of backends, past the
 * node.
 */
function lookup(hook: 'prerouting' | 'output'): Chain {
  return base(hook, { type: 'nat', hook, priority: -100 }, [
    ...families.map((family) => ({
      comment: 'to a cluster address',
      statements: [inSet(family, 'daddr', 'services'), addMark],
    })),
    ...families.map((family) => ({ statements: [byAddress(family, 'addresses')] })),
    ...families.map((family) => ({ statements: byNodePort(family, 'node-ports') })),
  ])
}

/** Before the destination is another one. */
function guard(name: string, hook: 'prerouting' | 'output'): Chain {
  return base(
    name,
    { type: 'filter', hook, priority: -110 },
    families.map((family) => ({ statements: [isNew, byAddress(family, 'guarded')] })),
  )
}

/** What has kept its destination up to here is led nowhere. */
function refusals(hook: 'input' | 'forward' | 'output'): Chain {
  return base(`refuse-${hook}`, { type: 'filter', hook, priority: 0 }, [
    ...families.map((family) => ({ statements: [isNew, byAddress(family, 'nobody')] })),
    ...(hook === 'forward'
      ? []
      : families.map((family) => ({ statements: [isNew, ...byNodePort(family, 'nobody-ports')] }))),
    ...(hook === 'input' ? [] : families.flatMap(strays)),
  ])
}

/** No Service has the port, or the address; somebody on the node may have it. */
function strays(family: FamilyFacts): readonly NftRule[] {
  const isElsewhere: Statement = {
    match: { op: '!=', left: { fib: { result: 'type', flags: ['daddr'] } }, right: 'local' },
  }
  return [
    { statements: [isNew, inSet(family, 'daddr', 'cluster'), isElsewhere, { goto: { target: 'refuse' } }] },
    { statements: [isNew, inSet(family, 'daddr', 'allocated'), isElsewhere, { drop: null }] },
  ]
}

const isNew: Statement = { match: { op: 'in', left: { ct: { key: 'state' } }, right: 'new' } }

const addMark: Statement = {
  mangle: {
    key: { meta: { key: 'mark' } },
    value: { '|': [{ meta: { key: 'mark' } }, masqueradeMark] },
  },
}

function base(name: string, hook: BaseChain, rules: readonly NftRule[]): Chain {
  return { name, base: { ...hook, policy: 'accept' }, rules }
}

function factsOf({ family }: ServedPort): FamilyFacts {
  return families[family === 4 ? 0 : 1]
}

function equals(left: Expression, right: Expression): Statement {
  return { match: { op: '==', left, right } }
}

function addressOf({ protocol }: FamilyFacts, field: 'saddr' | 'daddr'): Expression {
  return { payload: { protocol, field } }
}

function inSet(family: FamilyFacts, field: 'saddr' | 'daddr', set: string): Statement {
  return equals(addressOf(family, field), `@${set}-${family.family}`)
}

function addressMap(name: string, comment: string, family: FamilyFacts, entries: readonly Entry[]): NftMap {
  const type = [family.type, 'inet_proto', 'inet_service'] as const
  return { name: `${name}-${family.family}`, type, comment, elements: firstOfEach(entries) }
}

function portMap(name: string, comment: string, { family }: FamilyFacts, entries: readonly Entry[]): NftMap {
  return {
    name: `${name}-${family}`,
    type: ['inet_proto', 'inet_service'],
    comment,
    elements: firstOfEach(entries),
  }
}

/** The kernel takes a key once. */
function firstOfEach(entries: readonly Entry[]): readonly Entry[] {
  const byKey = new Map<string, Entry>()
  for (const one of entries) {
    const key = keyOf(one[0])
    if (!byKey.has(key)) byKey.set(key, one)
  }
  return [...byKey.values()]
}

/**
 * Who has each address from outside, with a port: of those that name it who stands first, also when nobody is behind it. A cluster address is its
 * Service's, whoever names it.
 */
function holdersOf(plans: readonly PortPlan[]): ReadonlyMap<string, PortPlan> {
  const holders = new Map<string, PortPlan>()
  const addresses = new Set<string>()
  for (const plan of plans)
    for (const ip of plan.port.externalIps) {
      addresses.add(ip)
      const key = keyOf(frontend(plan.port, ip))
      if (!holders.has(key)) holders.set(key, plan)
    }
  for (const { port } of plans)
    for (const ip of port.clusterIps) if (addresses.has(ip)) holders.delete(keyOf(frontend(port, ip)))
  return holders
}

function frontend({ protocol, port }: ServedPort, ip: string): Concatenation {
  return { concat: [ip, protocol, port] }
}

function keyOf({ concat }: Concatenation): string {
  return JSON.stringify(concat)
}

function clusterAddresses(family: FamilyFacts, plans: readonly PortPlan[]): NftSet {
  const own = plans.flatMap(({ port }) => (port.family === family.family ? port.clusterIps : []))
  return {
    name: `cluster-${family.family}`,
    type: family.type,
    comment: 'addresses of Services',
    elements: [...new Set(own)],
  }
}

function prefixSet(name: string, comment: string, family: FamilyFacts, texts: readonly string[]): NftSet {
  return {
    name: `${name}-${family.family}`,
    type: family.type,
    flags: ['interval'],
    autoMerge: true,
    comment,
    elements: texts.filter((text) => text.includes(':') === (family.family === 6)).map(element),
  }
}

function element(text: string): SetElement {
  const slash = text.indexOf('/')
  if (slash < 0) return text
  return { prefix: { addr: text.slice(0, slash), len: Number(text.slice(slash + 1)) } }
}
