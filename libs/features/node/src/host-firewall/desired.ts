import type {
  BaseChain,
  Chain,
  Expression,
  NftRule,
  NftSet,
  SetElement,
  Statement,
  Table,
} from '@kube-ovn/netfilter'
import type { FixedSource, NatRuleFacts, SubnetNatRules } from '../subnet-facts.ts'
import type { HostFirewallSnapshot } from './snapshot.ts'

/** The table that this project keeps on a node; nothing else in the packet filter is touched. */
const hostFirewallTable = { family: 'inet', name: 'kube-ovn' } as const

/** Says "masquerade" to us and to kube-proxy alike (its `--iptables-masquerade-bit`, default 14). */
const masqueradeMark = 0x4000

const geneve = 6081
const vxlan = 4789

/** Both families, with what differs between them. */
const families = [
  { suffix: '4', protocol: 'ip', type: 'ipv4_addr' },
  { suffix: '6', protocol: 'ip6', type: 'ipv6_addr' },
] as const

type FamilyFacts = (typeof families)[number]

/**
 * Renders the node's whole packet filter.
 *
 * - `mark-services` runs just before kube-proxy's DNAT (dstnat), because afterwards the destination is a pod and
 *   nobody can tell that a Service was meant. The mark stays with the packet up to POSTROUTING.
 * - `masquerade` runs just before kube-proxy's own chain (srcnat): whichever chain first gives a connection a
 *   source address decides, and ours knows which traffic may keep its own.
 * - A base chain of type nat sees the first packet of each connection only.
 *
 * There are no "accept" rules for pod traffic: in nftables, accepting in one table does not save a packet from a
 * later table, so they would decide nothing.
 *
 * @see nft(8), "STATEMENTS"
 */
export function desiredHostFirewall(snapshot: HostFirewallSnapshot): Table {
  return {
    ...hostFirewallTable,
    sets: [
      ...families.flatMap((family) => [
        prefixSet('subnets', 'prefixes of overlay subnets', family, snapshot.subnets),
        prefixSet('subnets-nat', 'subnets with natOutgoing', family, snapshot.natOutgoing),
        prefixSet('services', 'prefixes of Service addresses', family, snapshot.services),
        prefixSet('other-nodes', 'addresses of the other nodes', family, snapshot.otherNodes),
      ]),
      ...snapshot.natRules.flatMap(({ natRules }) => natRules.flatMap(natRuleSets)),
    ],
    chains: [
      markServices(),
      unmarkTunnels(),
      dropStrayResets(),
      ...(snapshot.fixedSources.length === 0 ? [] : [dropUnknownFlows(snapshot.fixedSources)]),
      masquerade(snapshot),
      ...snapshot.natRules.map(natRuleChain),
      {
        name: 'masquerade-now',
        rules: [{ statements: [setMark(0), { masquerade: { flags: ['fully-random'] } }] }],
      },
    ],
  }
}

/** Pods reach a Service that OVN does not balance by way of ovn0; the backend has to answer by the same way. */
function markServices(): Chain {
  return base('mark-services', { type: 'nat', hook: 'prerouting', priority: -105 }, [
    ...families.map((family) =>
      rule('pod to service', [
        equals({ meta: { key: 'iifname' } }, 'ovn0'),
        inSet(family, 'saddr', 'subnets'),
        inSet(family, 'daddr', 'services'),
        setMark({ '|': [{ meta: { key: 'mark' } }, masqueradeMark] }),
      ]),
    ),
  ])
}

/** A tunnel packet inherits the mark of what it carries and must not be masqueraded for it. */
function unmarkTunnels(): Chain {
  return base('unmark-tunnels', { type: 'filter', hook: 'output', priority: -150 }, [
    ...[geneve, vxlan].map((port) =>
      rule('tunnel packet', [equals({ payload: { protocol: 'udp', field: 'dport' } }, port), setMark(0)]),
    ),
  ])
}

/** A reset that belongs to no known connection would leave the node with a pod's bare address. */
function dropStrayResets(): Chain {
  return base('drop-stray-resets', { type: 'filter', hook: 'postrouting', priority: -150 }, [
    ...families.map((family) =>
      rule('stray reset of a pod', [
        inSet(family, 'saddr', 'subnets'),
        { match: { op: '!=', left: { '&': [tcpFlags, 'rst'] }, right: 0 } },
        { match: { op: 'in', left: { ct: { key: 'state' } }, right: 'invalid' } },
        { drop: null },
      ]),
    ),
  ])
}

/**
 * A flow that this node has not seen begin, as after a failover, can not get the address that its other packets had: it would leave with
 * the pod's own.
 */
function dropUnknownFlows(sources: readonly FixedSource[]): Chain {
  return base(
    'drop-unknown-flows',
    { type: 'filter', hook: 'postrouting', priority: -150 },
    sources.map((source) =>
      rule(`unknown flow of subnet ${source.subnet}`.slice(0, 100), [
        ...leavesFrom(source),
        equals({ '&': [tcpFlags, 'syn'] }, 0),
        { match: { op: 'in', left: { ct: { key: 'state' } }, right: 'new' } },
        { drop: null },
      ]),
    ),
  )
}

/** Gives what leaves the cluster by way of this node an address that is the subnet's own. */
function translateFixed(source: FixedSource): NftRule {
  const { protocol } = familyOfText(source.prefix)
  return rule(`address of subnet ${source.subnet}`.slice(0, 100), [
    ...leavesFrom(source),
    { snat: { addr: source.address, family: protocol, flags: ['fully-random'] } },
  ])
}

function leavesFrom({ prefix }: FixedSource): readonly Statement[] {
  const family = familyOfText(prefix)
  return [equals(addressOf(family, 'saddr'), element(prefix)), notInSet(family, 'daddr', 'subnets')]
}

const masqueradeNow: Statement = { goto: { target: 'masquerade-now' } }

function masquerade({ nodeAddresses, natRules, fixedSources }: HostFirewallSnapshot): Chain {
  const isMarked = equals({ '&': [{ meta: { key: 'mark' } }, masqueradeMark] }, masqueradeMark)
  return base('masquerade', { type: 'nat', hook: 'postrouting', priority: 95 }, [
    ...families.flatMap((family) => {
      const address = nodeAddresses.find((text) => text.includes(':') === (family.suffix === '6'))
      if (address === undefined) return []
      return [
        rule('service reply to pod', [
          inSet(family, 'saddr', 'services'),
          inSet(family, 'daddr', 'subnets'),
          isMarked,
          { snat: { addr: address, family: family.protocol, flags: ['fully-random'] } },
        ]),
      ]
    }),
    rule('marked here or by kube-proxy', [isMarked, masqueradeNow]),
    ...families.map((family) =>
      rule('pod to service to pod', [
        inSet(family, 'saddr', 'subnets'),
        inSet(family, 'daddr', 'subnets'),
        masqueradeNow,
      ]),
    ),
    rule('reply of a flow that was routed directly', [
      equals({ '&': [tcpFlags, 'syn'] }, 0),
      { match: { op: 'in', left: { ct: { key: 'state' } }, right: 'new' } },
      { return: null },
    ]),
    ...families.map((family) =>
      rule('routed in from outside', [
        notInSet(family, 'saddr', 'subnets'),
        notInSet(family, 'saddr', 'other-nodes'),
        inSet(family, 'daddr', 'subnets-nat'),
        { return: null },
      ]),
    ),
    ...natRules.flatMap(toNatRules),
    ...fixedSources.map(translateFixed),
    ...families.map((family) =>
      rule('natOutgoing', [
        inSet(family, 'saddr', 'subnets-nat'),
        notInSet(family, 'daddr', 'subnets'),
        masqueradeNow,
      ]),
    ),
  ])
}

/** Sends what leaves the cluster from a subnet through its rules; what none of them is about comes back to natOutgoing. */
function toNatRules({ name, uid, prefixes, natRules }: SubnetNatRules): readonly NftRule[] {
  return families.flatMap((family) => {
    if (!natRules.some((one) => familyOfRule(one) === family)) return []
    return elementsOf(family, prefixes).map((prefix) =>
      // A comment has at most 128 bytes (nft(8)).
      rule(`rules of subnet ${name}`.slice(0, 100), [
        equals(addressOf(family, 'saddr'), prefix),
        notInSet(family, 'daddr', 'subnets'),
        { jump: { target: natRuleChainName(uid) } },
      ]),
    )
  })
}

/** The first rule that matches decides. */
function natRuleChain({ uid, natRules }: SubnetNatRules): Chain {
  return {
    name: natRuleChainName(uid),
    rules: natRules.map((one) => {
      const family = familyOfRule(one)
      return rule(`rule ${one.id}`, [
        ...(one.sources.length > 0 ? [inSet(family, 'saddr', natRuleSet(one, 'src'))] : []),
        ...(one.destinations.length > 0 ? [inSet(family, 'daddr', natRuleSet(one, 'dst'))] : []),
        one.action === 'nat' ? masqueradeNow : { accept: null },
      ])
    }),
  }
}

function natRuleSets(one: NatRuleFacts): readonly NftSet[] {
  const family = familyOfRule(one)
  return [
    ...(one.sources.length > 0
      ? [prefixSet(natRuleSet(one, 'src'), 'sources of a rule', family, one.sources)]
      : []),
    ...(one.destinations.length > 0
      ? [prefixSet(natRuleSet(one, 'dst'), 'destinations of a rule', family, one.destinations)]
      : []),
  ]
}

/** With the part of its UID that upstream has in names of chains. */
function natRuleChainName(uid: string): string {
  return `nat-rules-${uid.slice(-12)}`
}

function natRuleSet({ id }: NatRuleFacts, end: 'src' | 'dst'): string {
  return `nat-rule-${id}-${end}`
}

function familyOfRule({ sources, destinations }: NatRuleFacts): FamilyFacts {
  return familyOfText([...sources, ...destinations].join())
}

function familyOfText(text: string): FamilyFacts {
  return families[text.includes(':') ? 1 : 0]
}

const tcpFlags: Expression = { payload: { protocol: 'tcp', field: 'flags' } }

function base(name: string, hook: BaseChain, rules: readonly NftRule[]): Chain {
  return { name, base: { ...hook, policy: 'accept' }, rules }
}

function rule(comment: string, statements: readonly Statement[]): NftRule {
  return { statements, comment }
}

function equals(left: Expression, right: Expression): Statement {
  return { match: { op: '==', left, right } }
}

function setMark(value: Expression): Statement {
  return { mangle: { key: { meta: { key: 'mark' } }, value } }
}

function inSet(family: FamilyFacts, field: 'saddr' | 'daddr', set: string): Statement {
  return { match: { op: '==', left: addressOf(family, field), right: `@${set}-${family.suffix}` } }
}

function notInSet(family: FamilyFacts, field: 'saddr' | 'daddr', set: string): Statement {
  return { match: { op: '!=', left: addressOf(family, field), right: `@${set}-${family.suffix}` } }
}

function addressOf(family: FamilyFacts, field: 'saddr' | 'daddr'): Expression {
  return { payload: { protocol: family.protocol, field } }
}

function prefixSet(name: string, comment: string, family: FamilyFacts, texts: readonly string[]): NftSet {
  return {
    name: `${name}-${family.suffix}`,
    type: family.type,
    flags: ['interval'],
    // Subnets may contain each other when an operator imports them; the kernel refuses overlaps otherwise.
    autoMerge: true,
    comment,
    elements: elementsOf(family, texts),
  }
}

/** Those of a family. */
function elementsOf(family: FamilyFacts, texts: readonly string[]): readonly SetElement[] {
  return texts.filter((text) => text.includes(':') === (family.suffix === '6')).map(element)
}

function element(text: string): SetElement {
  const slash = text.indexOf('/')
  if (slash < 0) return text
  return { prefix: { addr: text.slice(0, slash), len: Number(text.slice(slash + 1)) } }
}
