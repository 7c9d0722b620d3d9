import fc from 'fast-check'
import { own } from './speaker-fixture.ts'

export const cidrs = {
  red: { ipv4: '10.16.0.0/16', ipv6: 'fd00:10:16::/112' },
  blue: { ipv4: '10.17.0.0/16', ipv6: 'fd00:10:17::/112' },
} as const
/** Another address of the node, which a route may lead from. */
export const otherHop = '192.0.2.7'
/** Of the Vip, which is of the first Subnet. */
export const vipAddresses = { ipv4: '10.16.1.1', ipv6: 'fd00:10:16::1:1' } as const

export const subnetNames = ['red', 'blue'] as const
export type SubnetName = (typeof subnetNames)[number]
export type Policy = 'true' | 'cluster' | 'local' | 'everywhere' | undefined

interface PodModel {
  readonly subnet: SubnetName
  readonly node: 'node-1' | 'node-2'
  /** Whether it shares the Vip. */
  readonly shares: boolean
  policy: Policy
}

/** What has been said to the API server and to the kernel so far. */
export interface Model {
  readonly subnets: Record<SubnetName, Policy>
  readonly pods: Map<number, PodModel>
  /** There is none without a word about it. */
  vip: { readonly policy: Policy } | undefined
  hasNode: boolean
  isDrained: boolean
  hop: string
}

export function emptyModel(): Model {
  return {
    subnets: { red: undefined, blue: undefined },
    pods: new Map(),
    ...{ vip: undefined, hasNode: true, isDrained: false, hop: own.ipv4 },
  }
}

const policy = fc.constantFrom<Policy>('true', 'cluster', 'local', 'everywhere', undefined)
const subnet = fc.constantFrom<SubnetName>(...subnetNames)
const index = fc.nat({ max: 5 })
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...{ kind: fc.constant('pod' as const), index, policy, subnet, shares: fc.boolean() },
      node: fc.constantFrom('node-1' as const, 'node-2' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pod policy' as const), index, policy }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('subnet policy' as const), subnet, policy }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('vip' as const), policy }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('node' as const, 'drain' as const, 'hop' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('speaker' as const, 'router' as const) }) },
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
      if (!model.pods.delete(index)) model.pods.set(index, made)
      return true
    }
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

/** What a router is to know, in the words of docs/user/bgp.md rather than by the code that is tested. */
export function wantedOf({
  subnets,
  pods,
  vip,
  hasNode,
  isDrained,
  hop,
}: Model): Readonly<Record<string, string>> {
  if (!hasNode) return {}
  const found: Record<string, string> = {}
  const tell = ({ ipv4, ipv6 }: { readonly ipv4: string; readonly ipv6: string }): void => {
    found[ipv4] = hop
    found[ipv6] = own.ipv6
  }
  const isCluster = (policy: Policy): boolean => policy === 'true' || policy === 'cluster'
  for (const name of subnetNames) if (isCluster(subnets[name]) && !isDrained) tell(cidrs[name])
  for (const [index, { subnet, node, policy }] of pods) {
    // What nobody can make sense of is no policy of the Subnet either.
    const effective = policy ?? subnets[subnet]
    if (isCluster(effective) ? !isDrained : effective === 'local' && node === 'node-1')
      tell({ ipv4: `${addressesOf(index, subnet)[0]}/32`, ipv6: `${addressesOf(index, subnet)[1]}/128` })
  }
  if (vip !== undefined) {
    const isShared = [...pods.values()].some(
      ({ node, subnet, shares }) => shares && subnet === 'red' && node === 'node-1',
    )
    const isLocal = vip.policy === 'local' || (vip.policy === undefined && subnets.red === 'local')
    if (isCluster(vip.policy) ? !isDrained : isLocal && isShared)
      tell({ ipv4: `${vipAddresses.ipv4}/32`, ipv6: `${vipAddresses.ipv6}/128` })
  }
  return found
}

export function addressesOf(index: number, subnet: SubnetName): readonly [ipv4: string, ipv6: string] {
  const third = subnet === 'red' ? 16 : 17
  return [`10.${third}.0.${index + 1}`, `fd00:10:${third}::${index + 1}`]
}
