import fc from 'fast-check'

const names = ['a', 'b', 'c'] as const
export type Name = (typeof names)[number]
export const addressesOf = {
  a: ['10.96.100.1', 'fd00:10:96::1'],
  b: ['10.96.100.2', 'fd00:10:96::2'],
  c: ['10.96.100.3', 'fd00:10:96::3'],
} as const satisfies Record<Name, readonly [v4: string, v6: string]>
/** From outside: of both families, and one in the underlay Subnet. */
export const outside = ['172.18.0.200', 'fd00:18::200', '172.19.0.200'] as const
/** Of Services; those of both can have the second one taken away, and given again. */
const stacks = ['IPv4', 'IPv6', 'both'] as const
export type Stack = (typeof stacks)[number]
const vpcs = ['', 'red', 'gone'] as const
/** Rules, all with one address, of which Services are made. */
const rules = ['front', 'side'] as const
type Rule = (typeof rules)[number]
type RuleKind = 'slr' | 'rlr'
/** Of whom there are slices: Services, and what is made of rules. */
const owners = [...names, 'slr-front', 'slr-side', 'rlr-front', 'rlr-side'] as const
export type Owner = (typeof owners)[number]
/** Endpoints of one family are in one slice or in two. */
const parts = [1, 2] as const

export const nodeNames = ['n1', 'n2'] as const
type NodeName = (typeof nodeNames)[number]
export const zoneOf = { n1: 'east', n2: 'west' } as const satisfies Record<NodeName, string>

/** Backends: Pods of two Subnets while they are there, and one that is never a Pod. */
export const backends = {
  p1: { node: 'n1', subnet: 'ovn-default', addresses: ['10.16.0.201', 'fd00:10:16::201'] },
  p2: { node: 'n2', subnet: 'ovn-default', addresses: ['10.16.0.202', 'fd00:10:16::202'] },
  r1: { node: 'n1', subnet: 'rose', addresses: ['10.18.0.201', 'fd00:18::c9'] },
  r2: { node: 'n2', subnet: 'rose', addresses: ['10.18.0.202', 'fd00:18::ca'] },
  stranger: { node: 'n2', subnet: undefined, addresses: ['10.16.0.209', 'fd00:10:16::209'] },
} as const satisfies Record<
  string,
  { node: NodeName; subnet: string | undefined; addresses: readonly string[] }
>
export type Backend = keyof typeof backends
/** Ready, ending while it still serves, as far as anybody says, or neither. */
export const conditionsOf = {
  ready: { ready: true },
  ending: { ready: false, serving: true, terminating: true },
  // Of whom nobody says whether he serves.
  leaving: { ready: false, terminating: true },
  down: { ready: false, serving: false },
} as const
export interface End {
  readonly of: Backend
  readonly is: keyof typeof conditionsOf
}
const podNames = ['p1', 'p2', 'r1', 'r2'] as const

/** Subnets that come and go: one of the default VPC, and one of another that comes and goes as well. */
export const subnets = {
  blue: { cidrBlock: '10.17.0.0/24' },
  rose: { cidrBlock: '10.18.0.0/24,fd00:18::/120', vpc: 'red' },
} as const
type SubnetName = keyof typeof subnets
/** Those with Pods; a Vip of its name says from where these are asked. */
const sources = ['ovn-default', 'rose'] as const

/** The underlay Subnet, which is there all the time. */
export const yard = 'yard'
/** Of MetalLB, as the controller is told. */
export const announcersNamespace = 'default'

/** Of choice, some of which several want. */
export const chosenVips = ['192.0.2.1,2001:db8::1', '192.0.2.2', '2001:db8::1'] as const
/** Of the Subnet that moves. */
const homes = ['ovn-cluster', 'red'] as const

type Protocol = 'TCP' | 'UDP' | 'SCTP'
/** What a slice has: addresses, or names. */
type SliceFamily = 'IPv4' | 'IPv6' | 'FQDN'

/** By which the controller goes. */
export interface Flags {
  readonly loadBalancerLayout: 'shared' | 'per-service'
  readonly enableOvnLbPreferLocal: boolean
  readonly ovnLbNodePorts: boolean
  /** Nobody is balanced by OVN without. */
  readonly enableLb: boolean
}

/** What a user, or Kubernetes for him, does next. */
export type Step =
  | {
      readonly what: 'service'
      readonly name: Name
      readonly stack: Stack
      readonly port: number
      readonly protocol: Protocol
      /** It has another port, of UDP. */
      readonly isTwofold?: boolean
    }
  | { readonly what: 'families'; readonly name: Name; readonly policy: 'SingleStack' | 'PreferDualStack' }
  | { readonly what: 'affinity'; readonly name: Name; readonly seconds: number | null }
  | {
      readonly what: 'policy'
      readonly name: Name
      readonly policy: 'Local' | 'Cluster'
      readonly distribution: 'PreferClose' | null
    }
  /** What it is then; addresses are given and taken by way of a name only. */
  | { readonly what: 'turn'; readonly name: Name; readonly to: Stack | 'name' | 'headless' }
  | {
      readonly what: 'door'
      readonly name: Name
      readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
      readonly policy: 'Local' | 'Cluster'
    }
  | {
      readonly what: 'ingress'
      readonly name: Name
      readonly ips: readonly (typeof outside)[number][]
      readonly ipMode: 'VIP' | 'Proxy'
    }
  /** Its addresses from outside are in an attached network. */
  | { readonly what: 'attach'; readonly name: Name; readonly isAttached: boolean }
  | { readonly what: 'announce'; readonly name: Name; readonly node: NodeName | null }
  | {
      readonly what: 'vpc'
      readonly name: Name
      readonly vpc: (typeof vpcs)[number]
      readonly by: 'vpc' | 'logicalRouter'
    }
  | { readonly what: 'check'; readonly name: Name; readonly says: 'true' | 'false' | null }
  | {
      readonly what: 'check of rule'
      readonly kind: RuleKind
      readonly rule: Rule
      readonly says: 'true' | 'false' | null
    }
  | {
      readonly what: 'slice'
      readonly owner: Owner
      readonly family: SliceFamily
      readonly part: (typeof parts)[number]
      readonly isNew: boolean
      readonly ends: readonly End[]
      readonly hints: 'forNodes' | 'forZones' | null
      readonly protocol: Protocol
      /** All addresses are of one endpoint, the first one. */
      readonly isJoined?: boolean
    }
  | { readonly what: 'pod' | 'remove pod'; readonly pod: (typeof podNames)[number] }
  | { readonly what: 'enable'; readonly subnet: SubnetName | 'ovn-default'; readonly enableLb: boolean }
  /** While nobody has addresses of it. */
  | { readonly what: 'move subnet'; readonly vpc: (typeof homes)[number] }
  | { readonly what: 'subnet' | 'remove subnet'; readonly subnet: SubnetName }
  | { readonly what: 'vip' | 'remove vip'; readonly subnet: (typeof sources)[number] }
  | { readonly what: 'remove service'; readonly name: Name }
  | {
      readonly what: 'remove slice'
      readonly owner: Owner
      readonly family: SliceFamily
      readonly part: (typeof parts)[number]
    }
  | { readonly what: 'node'; readonly node: NodeName; readonly isTold: boolean; readonly zone: string | null }
  | {
      readonly what: 'yard'
      readonly enableLb: boolean
      readonly enableExternalLBAddress: boolean
      readonly u2oInterconnection: boolean
    }
  | { readonly what: 'renumber'; readonly node: NodeName; readonly to: 11 | 12 | 21 | 22 }
  | { readonly what: 'remove node'; readonly node: NodeName }
  /** Addresses in the place of its own, by its user. */
  | { readonly what: 'choose'; readonly name: Name; readonly vip: (typeof chosenVips)[number] | null }
  | {
      readonly what: 'rule'
      readonly kind: RuleKind
      readonly rule: Rule
      readonly port: number
      readonly vip?: (typeof chosenVips)[number]
      readonly isSticky?: boolean
    }
  | { readonly what: 'router of rule'; readonly rule: Rule; readonly vpc: 'red' | null }
  /** The controller is started again, with other flags. */
  | ({ readonly what: 'flags' } & Flags)
  | { readonly what: 'remove rule'; readonly kind: RuleKind; readonly rule: Rule }
  | { readonly what: 'prefix' | 'remove prefix' | 'create vpc' | 'remove vpc' | 'cut' | 'settle' }

const is = <T extends string>(...whats: readonly T[]) => fc.constantFrom(...whats)
const often = <T>(arbitrary: fc.Arbitrary<T>, weight: number) => ({ weight, arbitrary })
const name = fc.constantFrom(...names)
const protocol = is('TCP', 'TCP', 'UDP', 'UDP', 'SCTP')
const family = is('IPv4', 'IPv4', 'IPv4', 'IPv6', 'IPv6', 'IPv6', 'FQDN')
const owner = fc.constantFrom(...owners)
const kind = is('slr', 'rlr')
const rule = fc.constantFrom(...rules)
const port = fc.constantFrom(80, 81)
const says = fc.constantFrom('true' as const, 'false' as const, null)
const pod = fc.constantFrom(...podNames)
const subnetName = is('blue', 'rose')
const source = fc.constantFrom(...sources)
const node = fc.constantFrom(...nodeNames)
const part = fc.constantFrom(...parts)
const policy = is('Local', 'Cluster')
const end: fc.Arbitrary<End> = fc.record({
  of: is('p1', 'p2', 'r1', 'r2', 'stranger'),
  is: is('ready', 'ready', 'ready', 'ending', 'leaving', 'down'),
})
const ends = fc.uniqueArray(end, { maxLength: 3, selector: ({ of }) => of })
const hints = fc.constantFrom(null, null, 'forNodes' as const, 'forZones' as const)
const isNew = fc.boolean()
const rarely = fc.constantFrom(true, false, false)
const mostly = fc.constantFrom(true, true, true, false)

export const step: fc.Arbitrary<Step> = fc.oneof(
  often(
    fc.record({
      ...{ what: is('service'), name, stack: fc.constantFrom(...stacks), port, protocol },
      isTwofold: rarely,
    }),
    5,
  ),
  often(
    fc.record({ what: is('slice'), owner, family, part, isNew, ends, hints, protocol, isJoined: rarely }),
    8,
  ),
  often(fc.record({ what: is('pod'), pod }), 4),
  often(
    fc.record({ what: is('rule'), kind, rule, port, vip: fc.constantFrom(...chosenVips), isSticky: rarely }),
    2,
  ),
  fc.record({ what: is('router of rule'), rule, vpc: fc.constantFrom('red' as const, null) }),
  fc.record({ what: is('choose'), name, vip: fc.constantFrom(...chosenVips, null, null) }),
  fc.record({ what: is('renumber'), node, to: fc.constantFrom(11, 12, 21, 22) }),
  fc.record({ what: is('remove node'), node }),
  fc.record({ what: is('move subnet'), vpc: is(...homes) }),
  often(
    fc.record({
      what: is('flags'),
      loadBalancerLayout: is('shared', 'per-service'),
      ...{ enableOvnLbPreferLocal: mostly, ovnLbNodePorts: mostly, enableLb: mostly },
    }),
    2,
  ),
  often(fc.record({ what: is('subnet'), subnet: subnetName }), 2),
  often(fc.record({ what: is('check'), name, says }), 2),
  fc.record({ what: is('families'), name, policy: is('SingleStack', 'PreferDualStack') }),
  fc.record({ what: is('affinity'), name, seconds: fc.constantFrom(null, 60, 10_800) }),
  fc.record({
    what: is('policy'),
    name,
    policy,
    distribution: fc.constantFrom('PreferClose' as const, null),
  }),
  fc.record({ what: is('turn'), name, to: is('name', 'headless', ...stacks) }),
  often(fc.record({ what: is('door'), name, type: is('ClusterIP', 'NodePort', 'LoadBalancer'), policy }), 2),
  often(
    fc.record({
      ...{ what: is('ingress'), name, ipMode: is('VIP', 'VIP', 'Proxy') },
      ips: fc.uniqueArray(fc.constantFrom(...outside)),
    }),
    2,
  ),
  fc.record({ what: is('attach'), name, isAttached: fc.boolean() }),
  fc.record({ what: is('announce'), name, node: fc.constantFrom(...nodeNames, null) }),
  fc.record({ what: is('vpc'), name, vpc: fc.constantFrom(...vpcs), by: is('vpc', 'logicalRouter') }),
  fc.record({ what: is('node'), node, isTold: fc.boolean(), zone: fc.constantFrom('east', 'west', null) }),
  fc.record({
    what: is('yard'),
    ...{ enableLb: fc.boolean(), enableExternalLBAddress: fc.boolean(), u2oInterconnection: fc.boolean() },
  }),
  fc.record({ what: is('check of rule'), kind, rule, says }),
  fc.record({ what: is('enable'), subnet: is('blue', 'rose', 'ovn-default'), enableLb: fc.boolean() }),
  fc.record({ what: is('vip', 'remove vip'), subnet: source }),
  fc.record({ what: is('remove pod'), pod }),
  fc.record({ what: is('remove subnet'), subnet: subnetName }),
  fc.record({ what: is('remove service'), name }),
  fc.record({ what: is('remove slice'), owner, family, part }),
  fc.record({ what: is('remove rule'), kind, rule }),
  fc.record({ what: is('prefix', 'remove prefix') }),
  often(fc.record({ what: is('create vpc', 'remove vpc', 'cut', 'settle') }), 2),
)
