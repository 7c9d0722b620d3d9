import { KubeOvnError } from '@kube-ovn/errors'
import {
  apiVersion,
  ovnEipResource,
  routerLbRuleResource,
  subnetResource,
  switchLbRuleResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  ovnEip,
  routerLbRule,
  service,
  subnet,
  switchLbRule,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const type = 'application/merge-patch+json'
const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
const addressOf = { a: '10.96.100.1', b: '10.96.100.2', c: '10.96.100.3' } as const satisfies Record<
  Name,
  string
>
const vpcs = ['', 'red', 'gone'] as const
/** Rules, all with one address, of which Services are made. */
const rules = ['front', 'side'] as const
type Rule = (typeof rules)[number]
const ruleKinds = { slr: switchLbRuleResource, rlr: routerLbRuleResource } as const
type RuleKind = keyof typeof ruleKinds
/** Of whom there are slices: Services, and what is made of rules. */
const owners = [...names, 'slr-front', 'slr-side', 'rlr-front', 'rlr-side'] as const

/** What a user, or Kubernetes for him, does next. */
type Step =
  | { readonly what: 'service'; readonly name: Name; readonly port: number; readonly protocol: 'TCP' | 'UDP' }
  | { readonly what: 'affinity'; readonly name: Name; readonly seconds: number | null }
  | { readonly what: 'policy'; readonly name: Name; readonly policy: 'Local' | 'Cluster' }
  | { readonly what: 'vpc'; readonly name: Name; readonly vpc: (typeof vpcs)[number] }
  | {
      readonly what: 'slice'
      readonly name: (typeof owners)[number]
      readonly hosts: readonly number[]
      readonly protocol: 'TCP' | 'UDP'
    }
  | { readonly what: 'subnet'; readonly enableLb: boolean }
  | { readonly what: 'remove service'; readonly name: Name }
  | { readonly what: 'remove slice'; readonly name: (typeof owners)[number] }
  | { readonly what: 'rule'; readonly kind: RuleKind; readonly rule: Rule; readonly port: number }
  | { readonly what: 'remove rule'; readonly kind: RuleKind; readonly rule: Rule }
  | { readonly what: 'create vpc' | 'remove vpc' | 'cut' | 'settle' }

const name = fc.constantFrom(...names)
const protocol = fc.constantFrom('TCP' as const, 'UDP' as const)
const owner = fc.constantFrom(...owners)
const kind = fc.constantFrom('slr' as const, 'rlr' as const)
const rule = fc.constantFrom(...rules)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('service' as const),
      name,
      port: fc.constantFrom(80, 81),
      protocol,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('slice' as const),
      name: owner,
      hosts: fc.uniqueArray(fc.integer({ min: 2, max: 6 }), { maxLength: 3 }),
      protocol,
    }),
  },
  fc.record({ what: fc.constant('affinity' as const), name, seconds: fc.constantFrom(null, 60, 10_800) }),
  fc.record({
    what: fc.constant('policy' as const),
    name,
    policy: fc.constantFrom('Local' as const, 'Cluster' as const),
  }),
  fc.record({ what: fc.constant('vpc' as const), name, vpc: fc.constantFrom(...vpcs) }),
  fc.record({ what: fc.constant('subnet' as const), enableLb: fc.boolean() }),
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('rule' as const), kind, rule, port: fc.constantFrom(80, 81) }),
  },
  fc.record({ what: fc.constant('remove service' as const), name }),
  fc.record({ what: fc.constant('remove slice' as const), name: owner }),
  fc.record({ what: fc.constant('remove rule' as const), kind, rule }),
  fc.record({
    what: fc.constantFrom('create vpc' as const, 'remove vpc' as const, 'cut' as const, 'settle' as const),
  }),
)

const refusals: readonly string[] = ['kube-not-found', 'kube-already-exists', 'kube-conflict']

/** A step that is refused, as what it is about is not there or there already, changes nothing. */
async function carryOut(next: Step): Promise<void> {
  const { client } = cluster
  const ref = { namespace: 'default', name: 'name' in next ? next.name : '' }
  const attempt = async (write: () => Promise<unknown>): Promise<void> => {
    await write().catch((error: unknown) => {
      const isRefused = error instanceof KubeOvnError && refusals.includes(error.code)
      if (!isRefused) throw error
    })
  }
  switch (next.what) {
    case 'service': {
      const ports = [{ port: next.port, protocol: next.protocol }]
      const made = service({ name: next.name, clusterIP: addressOf[next.name], ports })
      if ((await client.get(services, ref)) === undefined) await attempt(() => client.create(services, made))
      else await attempt(() => client.patch(services, ref, type, { spec: { ports } }))
      return
    }
    case 'affinity': {
      const clientIP = { timeoutSeconds: next.seconds }
      const spec =
        next.seconds === null
          ? { sessionAffinity: 'None', sessionAffinityConfig: null }
          : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP } }
      return attempt(() => client.patch(services, ref, type, { spec }))
    }
    case 'policy':
      return attempt(() =>
        client.patch(services, ref, type, { spec: { internalTrafficPolicy: next.policy } }),
      )
    case 'vpc': {
      const annotations = { 'ovn.kubernetes.io/vpc': next.vpc === '' ? null : next.vpc }
      return attempt(() => client.patch(services, ref, type, { metadata: { annotations } }))
    }
    case 'slice': {
      const endpoints = next.hosts.map((host) => `10.16.0.${host}`)
      // Ports of rules have a name.
      const ports = ['', 'any'].map((portName) => ({ name: portName, port: 8080, protocol: next.protocol }))
      const made = endpointSlice({ name: `${next.name}-1`, service: next.name, endpoints, ports })
      await attempt(() => client.remove(endpointSlices, { namespace: 'default', name: `${next.name}-1` }))
      return attempt(() => client.create(endpointSlices, made))
    }
    case 'subnet':
      return cluster.user.edit(subnetResource, 'blue', { enableLb: next.enableLb })
    case 'rule': {
      const ports = [{ name: 'any', port: next.port, targetPort: 8080 }]
      const at = { name: next.rule }
      if (next.kind === 'slr') {
        const made = switchLbRule({ ...at, vip: '192.0.2.1', ports })
        if ((await client.get(switchLbRuleResource, at)) === undefined)
          return attempt(() => client.create(switchLbRuleResource, made))
      } else if ((await client.get(routerLbRuleResource, at)) === undefined)
        return attempt(() => client.create(routerLbRuleResource, routerLbRule({ ...at, ports })))
      return attempt(() => client.patch(ruleKinds[next.kind], at, type, { spec: { ports } }))
    }
    case 'remove rule':
      return attempt(() => client.remove(ruleKinds[next.kind], { name: next.rule }))
    case 'remove service':
      return attempt(() => client.remove(services, ref))
    case 'remove slice':
      return attempt(() => client.remove(endpointSlices, { namespace: 'default', name: `${next.name}-1` }))
    case 'create vpc':
      return attempt(() =>
        client.create(vpcResource, { apiVersion, kind: 'Vpc', metadata: { name: 'red' }, spec: {} }),
      )
    case 'remove vpc':
      return attempt(() => client.remove(vpcResource, { name: 'red' }))
    default:
  }
}

/** Everything of load balancers, by names in the place of row ids. */
function written(control: Controller): unknown {
  const { northbound } = control.world
  const nameOf = (uuid: string): string => northbound.get('Load_Balancer', uuid)?.name ?? uuid
  const nameOfGroup = (uuid: string): string => northbound.get('Load_Balancer_Group', uuid)?.name ?? uuid
  return {
    balancers: control.rows('Load_Balancer', 'name', 'protocol', 'vips', 'options', 'selection_fields'),
    variables: control.rows('Chassis_Template_Var', 'chassis', 'variables'),
    groups: control
      .rows('Load_Balancer_Group', 'name', 'load_balancer')
      .map((row) => ({ ...row, load_balancer: row.load_balancer.map(nameOf).sort() })),
    routers: control.rows('Logical_Router', 'name', 'load_balancer').map((row) => ({
      name: row.name,
      balancers: row.load_balancer.map(nameOf).sort(),
    })),
    switches: control.rows('Logical_Switch', 'name', 'load_balancer', 'load_balancer_group').map((row) => ({
      name: row.name,
      balancers: row.load_balancer.map(nameOf).sort(),
      groups: row.load_balancer_group.map(nameOfGroup).sort(),
    })),
  }
}

it.each([{ loadBalancerLayout: 'shared' }, { loadBalancerLayout: 'per-service' }])(
  'any sequence of changes, cut anywhere, ends in what a fresh start writes: $loadBalancerLayout',
  async (flags) => {
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' }),
    )
    await cluster.client.create(ovnEipResource, ovnEip({ externalSubnet: 'external' }))
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
      let control = await cluster.startController({ flags })
      try {
        for (const next of steps) {
          if (next.what === 'settle') await control.settle()
          else if (next.what === 'cut') {
            // In the middle of whatever it does.
            await control[Symbol.asyncDispose]()
            control = await cluster.startController({ flags })
          } else await carryOut(next)
        }
        await control.settle()
        const lived = written(control)
        await control[Symbol.asyncDispose]()
        await cluster.northbound.reset()
        control = await cluster.startController({ flags })
        await control.settle()
        expect(lived).toEqual(written(control))
      } finally {
        await control[Symbol.asyncDispose]()
      }
    })
    await fc.assert(property, { numRuns: process.env['KUBE_OVN_DEEP'] === '1' ? 200 : 4 })
  },
)
