import { podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  routerLbRuleResource,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  routerLbRule,
  service,
  subnet,
  switchLbRule,
  vip,
  vpc,
} from '@kube-ovn/testing-builders'
import type { ControlCluster } from '@kube-ovn/testing-control'
import fc from 'fast-check'

const type = 'application/merge-patch+json'
const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
const addressesOf = {
  a: ['10.96.100.1', 'fd00:10:96::1'],
  b: ['10.96.100.2', 'fd00:10:96::2'],
  c: ['10.96.100.3', 'fd00:10:96::3'],
} as const satisfies Record<Name, readonly [v4: string, v6: string]>
/** Of Services; those of both can have the second one taken away, and given again. */
const stacks = ['IPv4', 'IPv6', 'both'] as const
const vpcs = ['', 'red', 'gone'] as const
/** Rules, all with one address, of which Services are made. */
const rules = ['front', 'side'] as const
type Rule = (typeof rules)[number]
const ruleKinds = { slr: switchLbRuleResource, rlr: routerLbRuleResource } as const
type RuleKind = keyof typeof ruleKinds
/** Of whom there are slices: Services, and what is made of rules. */
const owners = [...names, 'slr-front', 'slr-side', 'rlr-front', 'rlr-side'] as const
type Owner = (typeof owners)[number]

/** Backends: Pods of two Subnets while they are there, and one that is never a Pod. */
const backends = {
  p1: { subnet: 'ovn-default', addresses: ['10.16.0.201', 'fd00:10:16::201'] },
  p2: { subnet: 'ovn-default', addresses: ['10.16.0.202', 'fd00:10:16::202'] },
  r1: { subnet: 'rose', addresses: ['10.18.0.201', 'fd00:18::c9'] },
  r2: { subnet: 'rose', addresses: ['10.18.0.202', 'fd00:18::ca'] },
  stranger: { subnet: undefined, addresses: ['10.16.0.209', 'fd00:10:16::209'] },
} as const
type Backend = keyof typeof backends
const podNames = ['p1', 'p2', 'r1', 'r2'] as const

/** Subnets that come and go: one of the default VPC, and one of another that comes and goes as well. */
const subnets = {
  blue: { cidrBlock: '10.17.0.0/24' },
  rose: { cidrBlock: '10.18.0.0/24,fd00:18::/120', vpc: 'red' },
} as const
type SubnetName = keyof typeof subnets
/** Those with Pods; a Vip of its name says from where these are asked. */
const sources = ['ovn-default', 'rose'] as const

/** What a user, or Kubernetes for him, does next. */
export type Step =
  | {
      readonly what: 'service'
      readonly name: Name
      readonly stack: (typeof stacks)[number]
      readonly port: number
      readonly protocol: 'TCP' | 'UDP'
    }
  | { readonly what: 'families'; readonly name: Name; readonly policy: 'SingleStack' | 'PreferDualStack' }
  | { readonly what: 'affinity'; readonly name: Name; readonly seconds: number | null }
  | { readonly what: 'policy'; readonly name: Name; readonly policy: 'Local' | 'Cluster' }
  | { readonly what: 'vpc'; readonly name: Name; readonly vpc: (typeof vpcs)[number] }
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
      readonly family: 'IPv4' | 'IPv6'
      readonly ends: readonly Backend[]
      readonly protocol: 'TCP' | 'UDP'
    }
  | { readonly what: 'pod' | 'remove pod'; readonly pod: (typeof podNames)[number] }
  | { readonly what: 'enable'; readonly subnet: SubnetName; readonly enableLb: boolean }
  | { readonly what: 'subnet' | 'remove subnet'; readonly subnet: SubnetName }
  | { readonly what: 'vip' | 'remove vip'; readonly subnet: (typeof sources)[number] }
  | { readonly what: 'remove service'; readonly name: Name }
  | { readonly what: 'remove slice'; readonly owner: Owner; readonly family: 'IPv4' | 'IPv6' }
  | { readonly what: 'rule'; readonly kind: RuleKind; readonly rule: Rule; readonly port: number }
  | { readonly what: 'remove rule'; readonly kind: RuleKind; readonly rule: Rule }
  | { readonly what: 'create vpc' | 'remove vpc' | 'cut' | 'settle' }

const is = <T extends string>(...whats: readonly T[]) => fc.constantFrom(...whats)
const often = <T>(arbitrary: fc.Arbitrary<T>, weight: number) => ({ weight, arbitrary })
const name = fc.constantFrom(...names)
const protocol = is('TCP', 'UDP')
const family = is('IPv4', 'IPv6')
const owner = fc.constantFrom(...owners)
const kind = is('slr', 'rlr')
const rule = fc.constantFrom(...rules)
const port = fc.constantFrom(80, 81)
const says = fc.constantFrom('true' as const, 'false' as const, null)
const pod = fc.constantFrom(...podNames)
const subnetName = is('blue', 'rose')
const source = fc.constantFrom(...sources)
const ends = fc.uniqueArray(is('p1', 'p2', 'r1', 'r2', 'stranger'), { maxLength: 3 })

export const step: fc.Arbitrary<Step> = fc.oneof(
  often(fc.record({ what: is('service'), name, stack: fc.constantFrom(...stacks), port, protocol }), 5),
  often(fc.record({ what: is('slice'), owner, family, ends, protocol }), 6),
  often(fc.record({ what: is('pod'), pod }), 4),
  often(fc.record({ what: is('rule'), kind, rule, port }), 2),
  often(fc.record({ what: is('subnet'), subnet: subnetName }), 2),
  often(fc.record({ what: is('check'), name, says }), 2),
  fc.record({ what: is('families'), name, policy: is('SingleStack', 'PreferDualStack') }),
  fc.record({ what: is('affinity'), name, seconds: fc.constantFrom(null, 60, 10_800) }),
  fc.record({ what: is('policy'), name, policy: is('Local', 'Cluster') }),
  fc.record({ what: is('vpc'), name, vpc: fc.constantFrom(...vpcs) }),
  fc.record({ what: is('check of rule'), kind, rule, says }),
  fc.record({ what: is('enable'), subnet: subnetName, enableLb: fc.boolean() }),
  fc.record({ what: is('vip', 'remove vip'), subnet: source }),
  fc.record({ what: is('remove pod'), pod }),
  fc.record({ what: is('remove subnet'), subnet: subnetName }),
  fc.record({ what: is('remove service'), name }),
  fc.record({ what: is('remove slice'), owner, family }),
  fc.record({ what: is('remove rule'), kind, rule }),
  often(fc.record({ what: is('create vpc', 'remove vpc', 'cut', 'settle') }), 2),
)

const refusals: readonly string[] = ['kube-not-found', 'kube-already-exists', 'kube-conflict']

/** A step that is refused, as what it is about is not there or there already, changes nothing. */
async function attempt(write: () => Promise<unknown>): Promise<void> {
  await write().catch((error: unknown) => {
    const isRefused = error instanceof KubeOvnError && refusals.includes(error.code)
    if (!isRefused) throw error
  })
}

/** Does what a step says, but for what is done to the controller. */
export async function carryOut(next: Step, cluster: ControlCluster): Promise<void> {
  const { client } = cluster
  const create = <T extends KubeObject>(resource: Resource<T>, object: T) =>
    attempt(() => client.create(resource, object))
  const remove = <T extends KubeObject>(resource: Resource<T>, ref: { name: string; namespace?: string }) =>
    attempt(() => client.remove(resource, ref))
  const inDefault = (of: string) => ({ namespace: 'default', name: of })
  const edit = (of: Name, change: object) =>
    attempt(() => client.patch(services, inDefault(of), type, { ...change }))
  const sliceName = (of: Owner, on: 'IPv4' | 'IPv6') => `${of}-${on.toLowerCase()}`
  const checkKey = serviceAnnotations.healthCheck.key

  switch (next.what) {
    case 'service': {
      const ports = [{ port: next.port, protocol: next.protocol }]
      if ((await client.get(services, inDefault(next.name))) !== undefined)
        return edit(next.name, { spec: { ports } })
      const [v4, v6] = addressesOf[next.name]
      const clusterIPs = { IPv4: [v4], IPv6: [v6], both: [v4, v6] }[next.stack]
      const ipFamilyPolicy = next.stack === 'both' ? 'PreferDualStack' : 'SingleStack'
      const [clusterIP = v4] = clusterIPs
      return create(services, service({ name: next.name, ports, clusterIP, clusterIPs, ipFamilyPolicy }))
    }
    case 'families':
      return edit(next.name, { spec: { ipFamilyPolicy: next.policy } })
    case 'affinity': {
      const clientIP = { timeoutSeconds: next.seconds }
      const spec =
        next.seconds === null
          ? { sessionAffinity: 'None', sessionAffinityConfig: null }
          : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP } }
      return edit(next.name, { spec })
    }
    case 'policy':
      return edit(next.name, { spec: { internalTrafficPolicy: next.policy } })
    case 'vpc':
      return edit(next.name, {
        metadata: { annotations: { [serviceAnnotations.vpc.key]: next.vpc === '' ? null : next.vpc } },
      })
    case 'check':
      return edit(next.name, { metadata: { annotations: { [checkKey]: next.says } } })
    case 'check of rule':
      return attempt(() =>
        client.patch(ruleKinds[next.kind], { name: next.rule }, type, {
          metadata: { annotations: { [checkKey]: next.says } },
        }),
      )
    case 'slice': {
      const at = next.family === 'IPv4' ? 0 : 1
      const endpoints = next.ends.map((end) => backends[end].addresses[at])
      // Ports of rules have a name.
      const ports = ['', 'any'].map((portName) => ({ name: portName, port: 8080, protocol: next.protocol }))
      const ref = inDefault(sliceName(next.owner, next.family))
      await remove(endpointSlices, ref)
      return create(
        endpointSlices,
        endpointSlice({ ...ref, service: next.owner, addressType: next.family, endpoints, ports }),
      )
    }
    case 'pod': {
      const { subnet: logicalSwitch, addresses } = backends[next.pod]
      const keys = podAnnotations()
      const annotations = {
        [keys.logicalSwitch.key]: logicalSwitch,
        [keys.ipAddress.key]: addresses.join(','),
      }
      return attempt(() => cluster.user.createPod({ name: next.pod, annotations }))
    }
    case 'remove pod':
      return attempt(() => cluster.removePod(next.pod))
    case 'subnet':
      return create(subnetResource, subnet({ name: next.subnet, ...subnets[next.subnet] }))
    case 'remove subnet':
      return remove(subnetResource, { name: next.subnet })
    case 'enable':
      return attempt(() => cluster.user.edit(subnetResource, next.subnet, { enableLb: next.enableLb }))
    case 'vip':
      return create(vipResource, vip({ name: next.subnet, subnet: next.subnet }))
    case 'remove vip':
      return remove(vipResource, { name: next.subnet })
    case 'rule': {
      const ports = [{ name: 'any', port: next.port, targetPort: 8080 }]
      const at = { name: next.rule }
      if ((await client.get(ruleKinds[next.kind], at)) !== undefined)
        return attempt(() => client.patch(ruleKinds[next.kind], at, type, { spec: { ports } }))
      return next.kind === 'slr'
        ? create(switchLbRuleResource, switchLbRule({ ...at, vip: '192.0.2.1,2001:db8::1', ports }))
        : create(routerLbRuleResource, routerLbRule({ ...at, ports }))
    }
    case 'remove rule':
      return remove(ruleKinds[next.kind], { name: next.rule })
    case 'remove service':
      return remove(services, inDefault(next.name))
    case 'remove slice':
      return remove(endpointSlices, inDefault(sliceName(next.owner, next.family)))
    case 'create vpc':
      return create(vpcResource, vpc({ name: 'red' }))
    case 'remove vpc':
      return remove(vpcResource, { name: 'red' })
    default:
  }
}
