import { nodeAnnotations, nodeLabel, podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  ovnEipResource,
  providerNetworkResource,
  routerLbRuleResource,
  serviceL2StatusResource,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vlanResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { endpointSlices, nodes, serviceCidrs, services } from '@kube-ovn/kube-api/core'
import type { Endpoint } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  ovnEip,
  providerNetwork,
  routerLbRule,
  service,
  subnet,
  switchLbRule,
  vip,
  vlan,
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
/** From outside: of both families, and one in the underlay Subnet. */
export const outside = ['172.18.0.200', 'fd00:18::200', '172.19.0.200'] as const
/** Of Services; those of both can have the second one taken away, and given again. */
const stacks = ['IPv4', 'IPv6', 'both'] as const
type Stack = (typeof stacks)[number]
const vpcs = ['', 'red', 'gone'] as const
/** Rules, all with one address, of which Services are made. */
const rules = ['front', 'side'] as const
type Rule = (typeof rules)[number]
const ruleKinds = { slr: switchLbRuleResource, rlr: routerLbRuleResource } as const
type RuleKind = keyof typeof ruleKinds
/** Of whom there are slices: Services, and what is made of rules. */
const owners = [...names, 'slr-front', 'slr-side', 'rlr-front', 'rlr-side'] as const
export type Owner = (typeof owners)[number]
/** Endpoints of one family are in one slice or in two. */
const parts = [1, 2] as const

const nodeNames = ['n1', 'n2'] as const
type NodeName = (typeof nodeNames)[number]
const zoneOf = { n1: 'east', n2: 'west' } as const satisfies Record<NodeName, string>

/** Backends: Pods of two Subnets while they are there, and one that is never a Pod. */
const backends = {
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
/** Ready, ending while it still serves, or neither. */
const conditionsOf = {
  ready: { ready: true },
  ending: { ready: false, serving: true, terminating: true },
  down: { ready: false, serving: false },
} as const
export interface End {
  readonly of: Backend
  readonly is: keyof typeof conditionsOf
}
const podNames = ['p1', 'p2', 'r1', 'r2'] as const

/** Subnets that come and go: one of the default VPC, and one of another that comes and goes as well. */
const subnets = {
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

/** What a user, or Kubernetes for him, does next. */
export type Step =
  | {
      readonly what: 'service'
      readonly name: Name
      readonly stack: Stack
      readonly port: number
      readonly protocol: 'TCP' | 'UDP'
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
      readonly family: 'IPv4' | 'IPv6'
      readonly part: (typeof parts)[number]
      readonly isNew: boolean
      readonly ends: readonly End[]
      readonly hints: 'forNodes' | 'forZones' | null
      readonly protocol: 'TCP' | 'UDP'
    }
  | { readonly what: 'pod' | 'remove pod'; readonly pod: (typeof podNames)[number] }
  | { readonly what: 'enable'; readonly subnet: SubnetName; readonly enableLb: boolean }
  | { readonly what: 'subnet' | 'remove subnet'; readonly subnet: SubnetName }
  | { readonly what: 'vip' | 'remove vip'; readonly subnet: (typeof sources)[number] }
  | { readonly what: 'remove service'; readonly name: Name }
  | {
      readonly what: 'remove slice'
      readonly owner: Owner
      readonly family: 'IPv4' | 'IPv6'
      readonly part: (typeof parts)[number]
    }
  | { readonly what: 'node'; readonly node: NodeName; readonly isTold: boolean; readonly zone: string | null }
  | {
      readonly what: 'yard'
      readonly enableLb: boolean
      readonly enableExternalLBAddress: boolean
      readonly u2oInterconnection: boolean
    }
  | { readonly what: 'rule'; readonly kind: RuleKind; readonly rule: Rule; readonly port: number }
  | { readonly what: 'remove rule'; readonly kind: RuleKind; readonly rule: Rule }
  | { readonly what: 'prefix' | 'remove prefix' | 'create vpc' | 'remove vpc' | 'cut' | 'settle' }

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
const node = fc.constantFrom(...nodeNames)
const part = fc.constantFrom(...parts)
const policy = is('Local', 'Cluster')
const end: fc.Arbitrary<End> = fc.record({
  of: is('p1', 'p2', 'r1', 'r2', 'stranger'),
  is: is('ready', 'ready', 'ready', 'ending', 'down'),
})
const ends = fc.uniqueArray(end, { maxLength: 3, selector: ({ of }) => of })
const hints = fc.constantFrom(null, null, 'forNodes' as const, 'forZones' as const)
const isNew = fc.boolean()

export const step: fc.Arbitrary<Step> = fc.oneof(
  often(fc.record({ what: is('service'), name, stack: fc.constantFrom(...stacks), port, protocol }), 5),
  often(fc.record({ what: is('slice'), owner, family, part, isNew, ends, hints, protocol }), 8),
  often(fc.record({ what: is('pod'), pod }), 4),
  often(fc.record({ what: is('rule'), kind, rule, port }), 2),
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
  fc.record({ what: is('enable'), subnet: subnetName, enableLb: fc.boolean() }),
  fc.record({ what: is('vip', 'remove vip'), subnet: source }),
  fc.record({ what: is('remove pod'), pod }),
  fc.record({ what: is('remove subnet'), subnet: subnetName }),
  fc.record({ what: is('remove service'), name }),
  fc.record({ what: is('remove slice'), owner, family, part }),
  fc.record({ what: is('remove rule'), kind, rule }),
  fc.record({ what: is('prefix', 'remove prefix') }),
  often(fc.record({ what: is('create vpc', 'remove vpc', 'cut', 'settle') }), 2),
)

const refusals: readonly string[] = [
  ...['kube-not-found', 'kube-already-exists', 'kube-conflict'],
  // What is asked of a Service that has no addresses.
  'kube-invalid',
]

/** A step that is refused, as what it is about is not there or there already, changes nothing. */
async function attempt(write: () => Promise<unknown>): Promise<void> {
  await write().catch((error: unknown) => {
    const isRefused = error instanceof KubeOvnError && refusals.includes(error.code)
    if (!isRefused) throw error
  })
}

function clusterAddresses(of: Name, stack: Stack) {
  const [v4, v6] = addressesOf[of]
  const clusterIPs = { IPv4: [v4], IPv6: [v6], both: [v4, v6] }[stack]
  const [clusterIP = v4] = clusterIPs
  return {
    clusterIP,
    clusterIPs,
    ipFamilyPolicy: stack === 'both' ? 'PreferDualStack' : 'SingleStack',
  } as const
}

const first: readonly Step[] = [
  { what: 'service', name: 'a', stack: 'both', port: 80, protocol: 'TCP' },
  { what: 'door', name: 'a', type: 'LoadBalancer', policy: 'Local' },
  { what: 'ingress', name: 'a', ips: ['172.18.0.200'], ipMode: 'VIP' },
  { what: 'service', name: 'b', stack: 'IPv4', port: 80, protocol: 'TCP' },
  ...(['a', 'b'] as const).map((of): Step => {
    const ends = (['p1', 'p2'] as const).map((one) => ({ of: one, is: 'ready' as const }))
    const slice = { owner: of, family: 'IPv4', part: 1, isNew: true, ends, hints: null } as const
    return { what: 'slice', ...slice, protocol: 'TCP' }
  }),
]

/**
 * What is there from the beginning: nodes that have told what OVN calls them, a way outside, an underlay, a Service with a door and one without.
 */
export async function setScene(cluster: ControlCluster): Promise<void> {
  const { client, user } = cluster
  await user.createNodes(...nodeNames)
  for (const name of nodeNames) {
    const annotations = { [nodeAnnotations.chassis.key]: `chassis-${name}` }
    const labels = { [nodeLabel.zone]: zoneOf[name] }
    await client.patch(nodes, { name }, type, { metadata: { annotations, labels } })
  }
  await client.create(
    subnetResource,
    subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' }),
  )
  await client.create(ovnEipResource, ovnEip({ externalSubnet: 'external' }))
  await client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await client.create(vlanResource, vlan({ name: 'v10', id: 10, provider: 'quay' }))
  const led = { enableExternalLBAddress: true, u2oInterconnection: true }
  const given = { cidrBlock: '172.19.0.0/24', vlan: 'v10', excludeIps: ['172.19.0.200..172.19.0.220'] }
  await client.create(subnetResource, subnet({ name: yard, ...given, ...led }))
  for (const next of first) await carryOut(next, cluster)
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
  const sliceName = ({
    owner: of,
    family: on,
    part: nth,
  }: Pick<Step & { what: 'slice' }, 'owner' | 'family' | 'part'>) => `${of}-${on.toLowerCase()}-${nth}`
  const tellStatus = <T extends KubeObject>(
    resource: Resource<T>,
    ref: { name: string; namespace?: string },
    status: object,
  ) => attempt(() => client.patch(resource, ref, type, { status: { ...status } }, { subresource: 'status' }))
  const checkKey = serviceAnnotations.healthCheck.key

  switch (next.what) {
    case 'service': {
      const ports = [{ port: next.port, protocol: next.protocol }]
      if ((await client.get(services, inDefault(next.name))) !== undefined)
        return edit(next.name, { spec: { ports } })
      return create(services, service({ name: next.name, ports, ...clusterAddresses(next.name, next.stack) }))
    }
    case 'turn': {
      await edit(next.name, { spec: { type: 'ExternalName', externalName: 'elsewhere.example.com' } })
      if (next.to === 'name') return
      const addresses = next.to === 'headless' ? { clusterIP: 'None' } : clusterAddresses(next.name, next.to)
      return edit(next.name, { spec: { type: 'ClusterIP', externalName: null, ...addresses } })
    }
    case 'door': {
      const externalTrafficPolicy = next.type === 'ClusterIP' ? null : next.policy
      return edit(next.name, { spec: { type: next.type, externalTrafficPolicy } })
    }
    case 'ingress': {
      const ingress = next.ips.map((ip) => ({ ip, ipMode: next.ipMode }))
      return tellStatus(services, inDefault(next.name), { loadBalancer: { ingress } })
    }
    case 'attach': {
      const annotations = {
        [serviceAnnotations.attachmentProvider.key]: next.isAttached ? 'a.default' : null,
      }
      return edit(next.name, { metadata: { annotations } })
    }
    case 'announce': {
      const ref = { namespace: announcersNamespace, name: `l2-${next.name}` }
      if (next.node === null) return remove(serviceL2StatusResource, ref)
      const kind = { apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status' }
      await create(serviceL2StatusResource, { ...kind, metadata: ref })
      const of = { serviceNamespace: 'default', serviceName: next.name }
      return tellStatus(serviceL2StatusResource, ref, { node: next.node, ...of })
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
      return edit(next.name, {
        spec: { internalTrafficPolicy: next.policy, trafficDistribution: next.distribution },
      })
    case 'vpc': {
      const { logicalRouter, logicalSwitch, vpc: written } = serviceAnnotations
      const said = next.vpc === '' ? null : next.vpc
      const annotations =
        next.by === 'vpc'
          ? { [written.key]: said }
          : { [logicalRouter.key]: said, [logicalSwitch.key]: said === null ? null : 'rose' }
      return edit(next.name, { metadata: { annotations } })
    }
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
      const endpoints = next.ends.map(({ of, is: state }): Endpoint => {
        const { node: nodeName, addresses } = backends[of]
        const near = next.hints === 'forNodes' ? nodeName : zoneOf[nodeName]
        return {
          ...{ addresses: [addresses[at]], conditions: conditionsOf[state], nodeName },
          ...(next.hints === null ? {} : { hints: { [next.hints]: [{ name: near }] } }),
        }
      })
      // Ports of rules have a name.
      const ports = ['', 'any'].map((portName) => ({ name: portName, port: 8080, protocol: next.protocol }))
      const ref = inDefault(sliceName(next))
      if (next.isNew) await remove(endpointSlices, ref)
      else if ((await client.get(endpointSlices, ref)) !== undefined)
        return attempt(() => client.patch(endpointSlices, ref, type, { endpoints, ports }))
      return create(
        endpointSlices,
        endpointSlice({ ...ref, service: next.owner, addressType: next.family, endpoints, ports }),
      )
    }
    case 'pod': {
      const { node: on, subnet: logicalSwitch, addresses } = backends[next.pod]
      const keys = podAnnotations()
      const annotations = {
        [keys.logicalSwitch.key]: logicalSwitch,
        [keys.ipAddress.key]: addresses.join(','),
      }
      return attempt(() => cluster.user.createPod({ name: next.pod, node: on, annotations }))
    }
    case 'node': {
      const annotations = { [nodeAnnotations.chassis.key]: next.isTold ? `chassis-${next.node}` : null }
      const metadata = { annotations, labels: { [nodeLabel.zone]: next.zone } }
      return attempt(() => client.patch(nodes, { name: next.node }, type, { metadata }))
    }
    case 'yard': {
      const { what: _, ...spec } = next
      return attempt(() => cluster.user.edit(subnetResource, yard, spec))
    }
    case 'prefix': {
      const ref = { name: 'more' }
      const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' }
      await create(serviceCidrs, { ...kind, metadata: ref, spec: { cidrs: ['10.200.0.0/24'] } })
      const told = { reason: 'Told', message: 'as told', lastTransitionTime: '2026-01-01T00:00:00Z' }
      return tellStatus(serviceCidrs, ref, { conditions: [{ type: 'Ready', status: 'True', ...told }] })
    }
    case 'remove prefix':
      return remove(serviceCidrs, { name: 'more' })
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
      return remove(endpointSlices, inDefault(sliceName(next)))
    case 'create vpc':
      return create(vpcResource, vpc({ name: 'red' }))
    case 'remove vpc':
      return remove(vpcResource, { name: 'red' })
    default:
  }
}
