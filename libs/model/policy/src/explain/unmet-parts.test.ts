import { expect, it } from 'vitest'
import { parseAdminPolicy } from '../admin-policy.ts'
import { parseEgressFirewall } from '../egress-firewall.ts'
import { parseMultiNetworkPolicy, parseNetworkPolicy } from '../network-policy.ts'
import { policy, type Spec } from '../network-policy.fixture.ts'
import {
  unmetInAdminPolicy,
  unmetInFirewall,
  unmetInNetworkPolicy,
  type PolicyWorld,
  type UnmetPart,
} from './unmet-parts.ts'

const world: PolicyWorld = {
  namespaces: new Map([
    ['shop', { team: 'shop' }],
    ['stock', { team: 'stock' }],
  ]),
  pods: [
    {
      ...{ namespace: 'shop', labels: { app: 'web' }, providers: ['ovn', 'storage.shop.ovn'] },
      ports: [{ protocol: 'tcp', name: 'http' }],
    },
    {
      ...{ namespace: 'stock', labels: { app: 'db' }, providers: ['ovn'] },
      ports: [{ protocol: 'udp', name: 'db' }],
    },
  ],
  nodes: [{ zone: 'a' }],
}

const told = (parts: readonly UnmetPart[]) => parts.map(({ field, what }) => `${field}: ${what}`)
const inPolicy = (spec: Spec) => told(unmetInNetworkPolicy(parseNetworkPolicy(policy(spec)), 'shop', world))
const ofStock = { namespaceSelector: { matchLabels: { team: 'stock' } } }
const app = (name: string) => ({ podSelector: { matchLabels: { app: name } } })
const named = (port: string, protocol: 'TCP' | 'UDP' = 'TCP') => [{ protocol, port }]

it.each<[what: string, spec: Spec, unmet: readonly string[]]>([
  [
    'nothing where all is met',
    {
      ...app('web'),
      ingress: [{ from: [{ ...ofStock, ...app('db') }], ports: named('http') }],
      egress: [{ to: [ofStock], ports: named('db', 'UDP') }, { ports: named('http') }, { to: [] }],
    },
    [],
  ],
  [
    'a policy for nobody',
    { ...app('till'), ingress: [{}] },
    ['spec.podSelector: {"matchLabels":{"app":"till"}} selects no pod: it is for nobody'],
  ],
  [
    'peers that there are not, of its own namespace and of others',
    { ingress: [{}, { from: [app('db'), { ...ofStock, ...app('web') }] }] },
    [
      'spec.ingress[1].from: {"matchLabels":{"app":"db"}} selects no pod',
      'spec.ingress[1].from: {"matchLabels":{"app":"web"}} in namespaces {"matchLabels":{"team":"stock"}} selects no pod',
    ],
  ],
  [
    'a name that its pods do not have for ingress, and its peers not for egress',
    { ingress: [{ ports: named('db', 'UDP') }], egress: [{ to: [ofStock], ports: named('http') }] },
    [
      'spec.ingress[0].ports: no pod has a port db of UDP',
      'spec.egress[0].ports: no pod has a port http of TCP',
    ],
  ],
  [
    'a name of another protocol',
    { ingress: [{ ports: named('http', 'UDP') }] },
    ['spec.ingress[0].ports: no pod has a port http of UDP'],
  ],
])('tells %s', (_what, spec, unmet) => {
  expect(inPolicy(spec)).toEqual(unmet)
})

it('tells of a policy about further networks what is nothing there', () => {
  const inMulti = (networks: string, spec: object) => {
    const object = policy(spec, { 'k8s.v1.cni.cncf.io/policy-for': networks })
    return told(unmetInNetworkPolicy(parseMultiNetworkPolicy(object), 'shop', world))
  }
  const from = [{ podSelector: {} }, { ...ofStock, ...app('db') }]
  expect(inMulti('storage', { ingress: [{ from, ports: named('http') }] })).toEqual([
    'spec.ingress[0].from: {"matchLabels":{"app":"db"}} in namespaces {"matchLabels":{"team":"stock"}} selects no pod',
  ])
  expect(inMulti('storage, tape', { ingress: [{}] })).toEqual([
    'metadata.annotations: no pod has a NIC of the network tape.shop.ovn',
  ])
  expect(inMulti('tape', { ingress: [{ ports: named('http') }] })).toEqual([
    'metadata.annotations: no pod has a NIC of the network tape.shop.ovn',
    'spec.podSelector: {} selects no pod: it is for nobody',
    'spec.ingress[0].ports: no pod has a port http of TCP',
  ])
  const networks = { 'ovn.kubernetes.io/network_policy_for': 'ovn' }
  const plain = parseNetworkPolicy(policy({ ingress: [{ from: [ofStock] }] }, networks))
  expect(unmetInNetworkPolicy(plain, 'shop', world)).toEqual([])
})

it('tells what can not be read, with its cure', () => {
  const [part] = unmetInNetworkPolicy(
    parseNetworkPolicy(policy({ ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/33' } }] }] })),
    'shop',
    world,
  )
  expect(part?.field).toBe('spec.ingress[0].from[0].ipBlock.cidr')
  expect(part?.what).toContain('10.0.0.0/33')
})

it('tells the same of policies of administrators, and of nodes', () => {
  const parsed = parseAdminPolicy('anp', {
    metadata: { name: 'guard' },
    spec: {
      ...{ priority: 1, subject: { namespaces: { matchLabels: { team: 'none' } } } },
      egress: [
        {
          action: 'Deny',
          to: [{ nodes: { matchLabels: { zone: 'b' } } }, { nodes: { matchLabels: { zone: 'a' } } }],
        },
        {
          action: 'Allow',
          to: [{ namespaces: { matchLabels: { team: 'stock' } } }],
          ports: [{ namedPort: 'db' }, { namedPort: 'ftp' }],
        },
      ],
    },
  })
  expect(told(unmetInAdminPolicy(parsed, world))).toEqual([
    'spec.subject: {} in namespaces {"matchLabels":{"team":"none"}} selects no pod: it is for nobody',
    'spec.egress[0].to: {"matchLabels":{"zone":"b"}} selects no node',
    'spec.egress[1].ports: no pod has a port ftp',
  ])
})

it('tells the same of EgressFirewalls', () => {
  const parsed = parseEgressFirewall({
    metadata: { name: 'default' },
    spec: { egress: [{ type: 'Allow', to: { nodeSelector: { matchLabels: { zone: 'b' } } } }] },
  })
  expect(told(unmetInFirewall(parsed, 'empty', world))).toEqual([
    'metadata.namespace: has no pod that it could be for',
    'spec.egress[0].to.nodeSelector: {"matchLabels":{"zone":"b"}} selects no node',
  ])
})
