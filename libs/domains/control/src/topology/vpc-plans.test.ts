import type { Vpc } from '@kube-ovn/kube-api'
import { node, ovnEip, subnet, vpc } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'
import { vpcProblemsText, type VpcPlan } from './vpc-plans.ts'

const subnets = [
  subnet({ name: 's1', vpc: 'v1', cidrBlock: '10.31.0.0/24' }),
  subnet({ name: 's2', vpc: 'v2', cidrBlock: '10.32.0.0/24' }),
  subnet({ name: 's3', vpc: 'v3', cidrBlock: '10.31.0.0/16' }),
]

function planOf(name: string, ...vpcs: readonly Vpc[]): VpcPlan {
  const { vpcPlans } = stillWorld({ subnets, vpcs: [...vpcs, vpc({ name: 'v3' })] }, {})
  const plan = vpcPlans.get(name)
  if (plan === undefined) throw new RangeError(name)
  return plan
}

const gatewayNode = node({
  annotations: { 'ovn.kubernetes.io/chassis': 'c1' },
  labels: { 'ovn.kubernetes.io/external-gw': 'true' },
})

const to = (remoteVpc: string, localConnectIP: string) => ({ vpcPeerings: [{ remoteVpc, localConnectIP }] })
const v2 = vpc({ name: 'v2', ...to('v1', '169.254.0.2/30') })

it('connects two VPCs that both want it', () => {
  const plan = planOf('v1', vpc({ name: 'v1', ...to('v2', '169.254.0.1/30') }), v2)
  expect(plan.peerings.map(({ remote }) => remote)).toEqual(['v2'])
  expect(plan.problems).toEqual([])
})

it.each([
  { name: 'there is no such VPC', v1: to('nobody', '169.254.0.1/30'), made: 1, cure: /create a Vpc/ },
  {
    name: 'the other side does not want it',
    v1: to('v3', '169.254.0.1/30'),
    made: 1,
    cure: /list v1 in spec.vpcPeerings of Vpc v3/,
  },
  {
    name: 'the addresses are in different prefixes',
    v1: to('v2', '169.254.9.1/30'),
    made: 1,
    cure: /one prefix with 169.254.0.2\/30/,
  },
  {
    name: 'the prefix is that of a subnet',
    v1: to('v2', '10.31.0.9/30'),
    made: 0,
    cure: /does not overlap subnet s1/,
  },
  {
    name: 'the prefix is that of another connection',
    v1: {
      vpcPeerings: [...to('v2', '169.254.0.1/30').vpcPeerings, ...to('v3', '169.254.0.1/24').vpcPeerings],
    },
    made: 1,
    cure: /does not overlap that of spec.vpcPeerings\[0\]/,
  },
])('says that $name', ({ v1, made, cure }) => {
  const plan = planOf('v1', vpc({ name: 'v1', ...v1 }), v2)
  expect(plan.peerings).toHaveLength(made)
  expect(plan.problems).toEqual([expect.objectContaining({ cure: expect.stringMatching(cure) as string })])
})

it('connects VPCs with a prefix in common, and says that it is not reached', () => {
  const back = vpc({ name: 'v3', ...to('v1', '169.254.0.2/30') })
  const { vpcPlans } = stillWorld(
    { subnets, vpcs: [vpc({ name: 'v1', ...to('v3', '169.254.0.1/30') }), v2, back] },
    {},
  )
  const { peerings = [], problems = [] } = vpcPlans.get('v1') ?? {}
  expect(peerings).toHaveLength(1)
  expect(vpcProblemsText(problems)).toMatch(/let the prefixes differ of subnets s1 and s3/)
})

it('says which next hops the router does not reach', () => {
  const staticRoutes = [
    { cidr: '0.0.0.0/0', nextHopIP: '10.31.0.254' },
    { cidr: '10.9.0.0/16', nextHopIP: '10.99.0.1' },
    { cidr: '10.32.0.0/24', nextHopIP: '169.254.0.2' },
  ]
  const plan = planOf('v1', vpc({ name: 'v1', staticRoutes, ...to('v2', '169.254.0.1/30') }), v2)
  expect(plan.routes).toHaveLength(3)
  expect(plan.problems.map(({ field, value }) => `${field} ${value}`)).toEqual([
    'spec.staticRoutes[1].nextHopIP 10.99.0.1',
  ])
})

it('says which next hops of policies the router does not reach, each once, and nothing of a router without networks', () => {
  const policy = { match: 'ip4.src == 10.31.0.0/24', action: 'reroute' }
  const policyRoutes = [
    { ...policy, priority: 1, nextHopIP: '10.31.0.254,169.254.0.2' },
    { ...policy, priority: 1, nextHopIP: '10.31.0.254,169.254.0.2' },
    { ...policy, priority: 2, nextHopIP: '10.31.0.254,10.99.0.1' },
    { ...policy, priority: 3, nextHopIP: '10.99.0.1' },
    { ...policy, priority: 4, action: 'drop', nextHopIP: '10.98.0.1' },
  ]
  const plan = planOf('v1', vpc({ name: 'v1', policyRoutes, ...to('v2', '169.254.0.1/30') }), v2)
  expect(plan.problems).toEqual([
    {
      field: 'spec.policyRoutes[2].nextHopIP',
      value: '10.99.0.1',
      cure: expect.stringMatching(
        /^choose an address in a subnet of the VPC, .*: the router reaches no other$/,
      ) as string,
    },
  ])
  expect(planOf('v4', vpc({ name: 'v4', policyRoutes }), v2).problems).toEqual([])
})

it('gives a namespace to the oldest Vpc that lists it, and tells the others', () => {
  const old = vpc({ name: 'v2', namespaces: ['shop'], creationTimestamp: '2026-01-01T00:00:00Z' })
  const young = vpc({ name: 'v1', namespaces: ['shop', 'own'], creationTimestamp: '2026-02-01T00:00:00Z' })
  expect(planOf('v2', young, old).problems).toEqual([])
  expect(planOf('v1', young, old).problems).toEqual([
    {
      field: 'spec.namespaces',
      value: 'shop',
      cure: 'take it out here or of Vpc v2, which is older and has it',
    },
  ])
})

it.each([
  { when: 'no address outside is ready', ready: false, enableEcmp: true, told: 1 },
  { when: 'one is', ready: true, enableEcmp: true, told: 0 },
  { when: 'no subnet shares its traffic', ready: false, enableEcmp: false, told: 0 },
])('says what is not shared by BFD when $when: $told', ({ ready, enableEcmp, told }) => {
  const outside = ovnEip({ name: 'n1', externalSubnet: 'external', type: 'lsp' })
  const labels = { 'ovn.kubernetes.io/subnet': 'external' }
  const world = stillWorld(
    {
      nodes: [gatewayNode],
      subnets: [
        subnet({ name: 's1', vpc: 'v1', cidrBlock: '10.31.0.0/24', enableEcmp }),
        subnet({ name: 'external', cidrBlock: '10.5.204.0/24' }),
      ],
      vpcs: [vpc({ name: 'v1', enableExternal: true, enableBfd: true })],
      ovnEips: [
        {
          ...outside,
          metadata: { ...outside.metadata, labels },
          status: { type: 'lsp', v4Ip: '10.5.204.9', ready },
        },
      ],
    },
    {},
  )
  const { problems = [], routes } = world.vpcPlans.get('v1') ?? {}
  expect(routes).toHaveLength(ready && enableEcmp ? 1 : 0)
  const cure = expect.stringContaining('switch enableEcmp of Subnet s1 off') as string
  expect(problems).toEqual(told === 0 ? [] : [{ field: 'spec.enableBfd', value: 'true', cure }])
})

const had = { type: 'lrp', v4Ip: '10.5.204.9', macAddress: '00:00:00:00:50:50' }
const asRouter = { externalSubnet: 'external', type: 'lrp' }

it.each<{
  readonly what: string
  readonly spec: object
  readonly had?: typeof had
  readonly owner?: string
  readonly cure?: string
  readonly isMade?: boolean
}>([
  { what: 'is as it should be', spec: asRouter, isMade: true },
  { what: 'is of another type', spec: { ...asRouter, type: 'nat' }, cure: 'which is of type nat' },
  {
    what: 'asks for another subnet',
    spec: { ...asRouter, externalSubnet: 'second' },
    cure: 'which is in Subnet second',
  },
  {
    what: 'is that of another Vpc',
    spec: { ...asRouter, externalSubnet: 'second' },
    owner: 'v1-more',
    cure: 'Vpc v1-more has',
  },
  {
    what: 'has its addresses, and is edited to another type',
    ...{ spec: { ...asRouter, type: 'nat' }, had },
    isMade: true,
  },
  {
    what: 'has its addresses, and is edited to another subnet',
    ...{ spec: { ...asRouter, externalSubnet: 'second' }, had },
    isMade: true,
  },
])('goes by the OvnEip of its name, which $what', ({ spec, had: status, owner, cure, isMade = false }) => {
  const eip = ovnEip({ name: 'v1-external', ...spec })
  const ownerReferences = owner === undefined ? [] : [ownedBy(owner)]
  const labels = status === undefined ? {} : { 'ovn.kubernetes.io/subnet': 'external' }
  const { vpcPlans } = stillWorld(
    {
      nodes: [gatewayNode],
      subnets: [
        subnet({ name: 'external', cidrBlock: '10.5.204.0/24' }),
        subnet({ name: 'second', cidrBlock: '10.5.205.0/24' }),
      ],
      vpcs: [vpc({ name: 'v1', enableExternal: true })],
      ovnEips: [
        {
          ...eip,
          metadata: { ...eip.metadata, ownerReferences, labels },
          ...(status === undefined ? {} : { status }),
        },
      ],
    },
    {},
  )
  const { externals = [], problems = [] } = vpcPlans.get('v1') ?? {}
  expect(externals).toEqual(isMade ? [{ subnet: 'external', eip: 'v1-external' }] : [])
  const told = {
    field: 'spec.enableExternal',
    value: 'external',
    cure: expect.stringContaining(cure ?? '') as string,
  }
  expect(problems).toEqual(isMade ? [] : [told])
})

function ownedBy(name: string) {
  return { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', name, uid: 'u1' }
}

it('says that the default subnet is none of its own', () => {
  expect(planOf('v1', vpc({ name: 'v1', defaultSubnet: 's1' }), v2).problems).toEqual([])
  expect(planOf('v1', vpc({ name: 'v1', defaultSubnet: 's2' }), v2).problems).toMatchObject([
    { field: 'spec.defaultSubnet', value: 's2' },
  ])
})

it('tells the first of many problems', () => {
  const problems = Array.from({ length: 9 }, (_, place) => ({ field: `f${place}`, value: '', cure: 'c' }))
  expect(vpcProblemsText(problems)).toMatch(/^f0 "": c; .*f4 "": c; and 4 more$/)
})
