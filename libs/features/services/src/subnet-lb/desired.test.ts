import { expect, it } from 'vitest'
import { shownMembers } from '@kube-ovn/domains-control/testing/shown'
import { desiredSubnetBalancers } from './desired.ts'

it('attaches each load balancer to the switch', () => {
  const balancers = [{ name: 'cluster-tcp-loadbalancer' }, { name: 'cluster-udp-loadbalancer' }]
  expect(shownMembers(desiredSubnetBalancers({ subnet: 'blue', balancers, group: 'all' }))).toEqual([
    'ls/blue load_balancer: lb/cluster-tcp-loadbalancer',
    'ls/blue load_balancer: lb/cluster-udp-loadbalancer',
    'ls/blue load_balancer_group: lb-group/all',
  ])
})
