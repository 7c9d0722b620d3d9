import fc from 'fast-check'
import { settings, type Settings } from './announced-settings-fixture.ts'
import { own } from './speaker-fixture.ts'

/** What Subnets have at first, and what an edit leaves of it. */
const cidrs = {
  red: {
    wide: { ipv4: '10.16.0.0/16', ipv6: 'fd00:10:16::/112' },
    narrow: { ipv4: '10.16.0.0/17', ipv6: 'fd00:10:16::/113' },
  },
  blue: {
    wide: { ipv4: '10.17.0.0/16', ipv6: 'fd00:10:17::/112' },
    narrow: { ipv4: '10.17.0.0/17', ipv6: 'fd00:10:17::/113' },
  },
} as const
/** Another address of the node, which a route may lead from. */
export const otherHop = '192.0.2.7'
/** Of the Vip, which is of the first Subnet. */
export const vipAddresses = { ipv4: '10.16.1.1', ipv6: 'fd00:10:16::1:1' } as const

export const subnetNames = ['red', 'blue'] as const
export type SubnetName = (typeof subnetNames)[number]
export type Policy = 'true' | 'cluster' | 'local' | 'everywhere' | undefined

type Family = 'ipv4' | 'ipv6'

interface PodModel {
  readonly subnet: SubnetName
  readonly node: 'node-1' | 'node-2'
  readonly families: readonly Family[]
  /** Whether it shares the Vip. */
  readonly shares: boolean
  policy: Policy
  /** Whether its addresses are others than it had at first. */
  hasMoved: boolean
}

/** What has been said to the API server, to the kernel and to the speaker so far. */
export interface Model {
  settings: Settings
  readonly subnets: Record<SubnetName, Policy>
  /** Those that an edit has left less of. */
  readonly narrow: Set<SubnetName>
  readonly pods: Map<number, PodModel>
  /** Policies of Services, by what makes their addresses. */
  readonly services: Map<number, Policy>
  /** There is none without a word about it. */
  vip: { readonly policy: Policy } | undefined
  hasNode: boolean
  isDrained: boolean
  hop: string
}

export function emptyModel(settings: Settings): Model {
  return {
    settings,
    subnets: { red: undefined, blue: undefined },
    ...{ narrow: new Set(), pods: new Map(), services: new Map() },
    ...{ vip: undefined, hasNode: true, isDrained: false, hop: own.ipv4 },
  }
}

// All of a Subnet is to be here now and then, and to have no other policy.
const policy = fc.constantFrom<Policy>(
  ...(['true', 'cluster', 'local', 'local', 'everywhere', undefined, undefined] as const),
)
const node = fc.constantFrom('node-1' as const, 'node-1' as const, 'node-2' as const)
const families = fc.constantFrom<readonly Family[]>(['ipv4', 'ipv6'], ['ipv4', 'ipv6'], ['ipv4'], ['ipv6'])
const subnet = fc.constantFrom<SubnetName>(...subnetNames)
const index = fc.nat({ max: 5 })
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...{ kind: fc.constant('pod' as const), index, policy, subnet, node, families },
      shares: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pod policy' as const), index, policy }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pod address' as const), index }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('subnet policy' as const), subnet, policy }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('subnet edit' as const), subnet }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('service' as const), index, policy }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('vip' as const), policy }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('node' as const, 'drain' as const, 'hop' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('speaker' as const), settings }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('router' as const) }) },
)
export type AnnouncedEvent = typeof event extends fc.Arbitrary<infer E> ? E : never

/** What happens before anybody looks, again and again. */
export function burstsOf(most: number, count: { readonly minLength: number; readonly maxLength: number }) {
  return fc.array(fc.array(event, { minLength: 1, maxLength: most }), count)
}

/** Does to the model what an event that is of objects alone does to them; whether it was one. */
export function happenIn(model: Model, event: AnnouncedEvent): boolean {
  switch (event.kind) {
    case 'pod': {
      const { index, kind: _, ...made } = event
      if (!model.pods.delete(index)) model.pods.set(index, { ...made, hasMoved: false })
      return true
    }
    case 'pod address': {
      const found = model.pods.get(event.index)
      if (found !== undefined) found.hasMoved = !found.hasMoved
      return true
    }
    case 'subnet edit':
      if (!model.narrow.delete(event.subnet)) model.narrow.add(event.subnet)
      return true
    case 'service':
      if (!model.services.delete(event.index)) model.services.set(event.index, event.policy)
      return true
    case 'pod policy': {
      const found = model.pods.get(event.index)
      if (found !== undefined) found.policy = event.policy
      return true
    }
    case 'subnet policy':
      model.subnets[event.subnet] = event.policy
      return true
    case 'vip':
      // Of three words about it one is that there is none any more.
      model.vip = model.vip?.policy === event.policy ? undefined : { policy: event.policy }
      return true
    case 'node':
      model.hasNode = !model.hasNode
      model.isDrained = false
      return true
    case 'drain':
      if (model.hasNode) model.isDrained = !model.isDrained
      return true
    default:
      return false
  }
}

/** What is announced, in the words of docs/user/bgp.md rather than by the code that is tested: next hops by prefix, towards a router of the same family. */
export function wantedOf(model: Model): Readonly<Record<string, string>> {
  const { settings, subnets, services, hasNode, isDrained, hop } = model
  if (!hasNode) return {}
  const found = new Set<string>()
  const isTold = ({ teller, nodes }: Member): boolean =>
    teller === 'all' ? !isDrained : teller === 'its nodes' && nodes.includes('node-1')
  for (const name of subnetNames) {
    const members = membersOf(model, name)
    const told = members.filter(isTold).flatMap(({ prefixes }) => prefixes)
    const isWhole =
      subnets[name] === 'local' &&
      members.every(({ teller, nodes }) => teller === 'its nodes' && nodes.every((node) => node === 'node-1'))
    const cidrs = cidrsOf(model, name)
    if (settings.aggregates && isWhole) for (const prefix of told) found.add(cidrs[familyOf(prefix)])
    else for (const prefix of told) found.add(prefix)
    if (isCluster(subnets[name]) && !isDrained) for (const cidr of Object.values(cidrs)) found.add(cidr)
  }
  if (settings.announcesServices && !isDrained)
    for (const [index, policy] of services)
      if (isCluster(policy)) for (const address of serviceAddressesOf(index)) found.add(hostOf(address))
  return Object.fromEntries(
    [...found].map((prefix) => [prefix, familyOf(prefix) === 'ipv4' ? hop : own.ipv6]),
  )
}

/** Something that has addresses of a Subnet. */
interface Member {
  readonly prefixes: readonly string[]
  readonly teller: 'all' | 'its nodes' | 'nobody'
  readonly nodes: readonly string[]
}

function membersOf(model: Model, name: SubnetName): readonly Member[] {
  const { pods, subnets, vip } = model
  const own = [...pods].filter(([, { subnet }]) => subnet === name)
  const members = own.map(([index, pod]): Member => ({
    prefixes: addressesOf(index, pod).map(hostOf),
    // What nobody can make sense of is no policy of the Subnet either.
    teller: tellerOf(pod.policy ?? subnets[name]),
    nodes: [pod.node],
  }))
  if (vip === undefined || name !== 'red') return members
  const inherited = subnets.red === 'local' ? 'local' : undefined
  const shared: Member = {
    prefixes: Object.values(vipAddresses).map(hostOf),
    teller: tellerOf(vip.policy ?? inherited),
    nodes: own.flatMap(([, { shares, node }]) => (shares ? [node] : [])),
  }
  return [...members, shared]
}

function tellerOf(policy: Policy): Member['teller'] {
  if (isCluster(policy)) return 'all'
  return policy === 'local' ? 'its nodes' : 'nobody'
}

function isCluster(policy: Policy): boolean {
  return policy === 'true' || policy === 'cluster'
}

/** What a Subnet has at the moment. */
export function cidrsOf({ narrow }: Model, name: SubnetName): Readonly<Record<Family, string>> {
  return cidrs[name][narrow.has(name) ? 'narrow' : 'wide']
}

function familyOf(text: string): Family {
  return text.includes(':') ? 'ipv6' : 'ipv4'
}

function hostOf(address: string): string {
  return `${address}/${familyOf(address) === 'ipv4' ? 32 : 128}`
}

export function addressesOf(
  index: number,
  { subnet, families, hasMoved }: Pick<PodModel, 'subnet' | 'families' | 'hasMoved'>,
): readonly string[] {
  const third = subnet === 'red' ? 16 : 17
  const host = index + (hasMoved ? 101 : 1)
  const all = { ipv4: `10.${third}.0.${host}`, ipv6: `fd00:10:${third}::${host}` }
  return families.map((family) => all[family])
}

export function serviceAddressesOf(index: number): readonly [ipv4: string, ipv6: string] {
  return [`10.96.1.${index + 1}`, `fd00:10:96::${index + 101}`]
}
