import type { Subnet, Vpc } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { renderTree, topologyOf } from './tree.ts'

const subnets: readonly Subnet[] = [
  {
    metadata: { name: 'web' },
    spec: {
      vpc: 'red',
      cidrBlock: '10.1.0.0/24,fd00:1::/112',
      gateway: '10.1.0.1,fd00:1::1',
      namespaces: ['shop'],
      private: true,
    },
  },
  {
    metadata: { name: 'db' },
    spec: { vpc: 'red', cidrBlock: '10.2.0.0/24', gatewayType: 'centralized', natOutgoing: true },
    status: { activateGateway: 'node-1' },
  },
  {
    metadata: { name: 'ovn-default' },
    spec: {
      vpc: 'ovn-cluster',
      cidrBlock: '10.16.0.0/16',
      gateway: '10.16.0.1',
      default: true,
      natOutgoing: true,
    },
  },
]
const vpcs: readonly Vpc[] = [
  {
    metadata: { name: 'red' },
    spec: {
      vpcPeerings: [{ remoteVpc: 'blue', localConnectIP: '169.254.0.1/30' }],
      staticRoutes: [{ cidr: '10.9.0.0/24', nextHopIP: '169.254.0.2' }],
    },
  },
  { metadata: { name: 'ovn-cluster' } },
]

it('puts all that is in a VPC under it, the default one first', () => {
  expect(renderTree(topologyOf(vpcs, subnets))).toBe(`vpc ovn-cluster (default)
└─ subnet ovn-default   10.16.0.0/16   [default]
     gateway 10.16.0.1, out on each node, with NAT

vpc red
├─ subnet db   10.2.0.0/24
│    gateway -, out by node-1, with NAT
├─ subnet web   10.1.0.0/24, fd00:1::/112   [private]
│    gateway 10.1.0.1, fd00:1::1, out on each node, without NAT
│    namespaces shop
├─ peering with blue at 169.254.0.1/30
└─ route 10.9.0.0/24 by 169.254.0.2
`)
})

it('shows a VPC that Subnets name and nobody made', () => {
  expect(topologyOf([], subnets).map(({ name }) => name)).toEqual(['ovn-cluster', 'red'])
})
