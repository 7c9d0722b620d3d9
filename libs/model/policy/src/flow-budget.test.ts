import type { NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import { describe, expect, it } from 'vitest'
import { flowsOfAcl } from './explain/index.ts'
import { networkPolicyRows, parseNetworkPolicy, type NetworkPolicyRows } from './index.ts'
import { policy, rulesOf, scene, type Spec } from './network-policy.fixture.ts'

const compile = (spec: Spec): NetworkPolicyRows => networkPolicyRows(parseNetworkPolicy(policy(spec)), scene)
const allowed = (spec: Spec) => rulesOf(compile(spec)).filter(({ action }) => action === 'allow-related')
const told = (spec: Spec) =>
  parseNetworkPolicy(policy(spec)).problems.map(({ details }) => {
    const { field, value } = details as { readonly field: string; readonly value: string }
    return `${field}: ${value}`
  })

const blocks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ipBlock: { cidr: `10.${index >> 8}.${index & 255}.0/24` } }))
const ports = (count: number, first = 1): readonly NetworkPolicyPort[] =>
  Array.from({ length: count }, (_, index) => ({ port: first + 2 * index }))
const pods = [{ podSelector: {} }]

describe('ports of a rule', () => {
  it('have an ACL each as long as there are few of them for their peers, as in the original', () => {
    expect(allowed({ ingress: [{ from: blocks(32), ports: ports(32) }] })).toHaveLength(32)
    expect(allowed({ ingress: [{ from: pods, ports: ports(16) }] })).toHaveLength(16)
    expect(allowed({ ingress: [{ ports: ports(1024) }] })).toHaveLength(1024)
  })

  it.each<[what: string, from: Spec & object, count: number]>([
    ['blocks', { ingress: [{ from: blocks(32), ports: ports(33) }] }, 1],
    ['pods', { ingress: [{ from: pods, ports: ports(17) }] }, 1],
    ['everybody', { ingress: [{ ports: ports(1025) }] }, 1],
    ['pods and blocks', { ingress: [{ from: [...pods, ...blocks(64)], ports: ports(17) }] }, 2],
    [
      'pods, of several protocols',
      {
        ingress: [{ from: pods, ports: [...ports(17), { protocol: 'UDP' }, { protocol: 'SCTP', port: 9 }] }],
      },
      3,
    ],
  ])('are in one ACL with their protocol where they come to many rules: of %s', (_what, spec, count) => {
    expect(allowed(spec)).toHaveLength(count)
  })

  it('are told as numbers, ranges or the protocol, each number once', () => {
    const many = ports(16, 101)
    const matchOf = (more: readonly NetworkPolicyPort[]) => {
      const acls = allowed({ ingress: [{ from: pods, ports: [...many, ...more] }] })
      return acls.map(({ match }) => match.replace(/^.*web\.shop\.ingress\.except\.IPv4\.0 && /, ''))
    }
    expect(
      matchOf([{ port: 80, endPort: 90 }, { port: 91 }, { port: 85, endPort: 100 }, { port: 443 }]),
    ).toEqual([
      '(tcp.dst == {103, 105, 107, 109, 111, 113, 115, 117, 119, 121, 123, 125, 127, 129, 131, 443} || 80 <= tcp.dst <= 101)',
    ])
    expect(matchOf([{ port: 443 }, {}])).toEqual(['tcp'])
  })
})

describe('what a policy says of a direction', () => {
  it('has room for many peers and ports', () => {
    const spec = { ingress: [{ from: blocks(8000), ports: ports(8000) }], egress: [{ to: blocks(16_383) }] }
    expect(told(spec)).toEqual([])
    const acls = allowed(spec)
    expect(acls).toHaveLength(2)
    const flows = acls.map((acl) => flowsOfAcl(acl, () => 0))
    expect(flows).toEqual([2 * (8000 + 8000 + 1), 2 * 16_383])
  })

  it('is in effect as far as there is room, and what there is none for is told, and allows nothing', () => {
    const spec: Spec = {
      ingress: [
        { from: blocks(8000), ports: ports(8000) },
        { from: [...pods, ...blocks(200)], ports: ports(200) },
        { from: blocks(3), ports: ports(100) },
      ],
    }
    expect(told(spec)).toEqual(['spec.ingress[1]: 402 OpenFlow rules'])
    expect(allowed(spec).map(({ name }) => name?.replace(/^.*ingress/, ''))).toEqual([
      '/IPv4/0/ipBlock',
      ...Array.from({ length: 100 }, () => '/IPv4/2/ipBlock'),
    ])
  })

  it('is refused before its blocks are taken apart', () => {
    const except = ['1.2.3.4/32', '5.6.7.8/32']
    const many = Array.from({ length: 20_000 }, () => ({ ipBlock: { cidr: '0.0.0.0/0', except } }))
    expect(told({ ingress: [{ from: many, ports: ports(10_000) }] })).toEqual([
      `spec.ingress[0]: ${20_000 * 64 + 10_000 + 1} OpenFlow rules`,
    ])
  })
})
