import { expect, it } from 'vitest'
import { shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredBalancers } from './desired.ts'

const names = {
  plain: { tcp: 't', udp: 'u', sctp: 's' },
  session: { tcp: 't-session', udp: 'u-session', sctp: 's-session' },
}
const external_ids = { vendor: 'kube-ovn' }

it('is a row for each protocol and affinity, and their names in the status of the VPC', () => {
  const desired = desiredBalancers({
    vpc: 'ovn-cluster',
    names,
    balancers: [
      { name: 't', protocol: 'tcp', affinity: undefined, nodes: undefined },
      { name: 'u', protocol: 'udp', affinity: undefined, nodes: undefined },
      { name: 'u-session', protocol: 'udp', affinity: 10_800, nodes: undefined },
      { name: 't-session-600', protocol: 'tcp', affinity: 600, nodes: undefined },
      { name: 't-session-nodes-v6', protocol: 'tcp', affinity: 10_800, nodes: 6 },
    ],
    prefersLocal: false,
    group: undefined,
  })
  const selection_fields = ['ip_src', 'ipv6_src']
  expect(shownRows(desired)).toEqual([
    {
      row: 'lb/t',
      name: 't',
      protocol: 'tcp',
      selection_fields: [],
      options: { prefer_local_backend: 'false' },
      external_ids,
    },
    {
      row: 'lb/u',
      name: 'u',
      protocol: 'udp',
      selection_fields: [],
      options: { ct_flush: 'true', prefer_local_backend: 'false' },
      external_ids,
    },
    {
      row: 'lb/u-session',
      name: 'u-session',
      protocol: 'udp',
      selection_fields,
      options: { affinity_timeout: '10800', prefer_local_backend: 'false' },
      external_ids,
    },
    {
      row: 'lb/t-session-600',
      name: 't-session-600',
      protocol: 'tcp',
      selection_fields,
      options: { affinity_timeout: '600', prefer_local_backend: 'false' },
      external_ids,
    },
    {
      row: 'lb/t-session-nodes-v6',
      name: 't-session-nodes-v6',
      protocol: 'tcp',
      selection_fields,
      options: { template: 'true', 'address-family': 'ipv6', prefer_local_backend: 'false' },
      external_ids,
    },
  ])
  expect(shownPatches(desired)).toEqual([
    {
      object: 'vpcs/ovn-cluster/status',
      status: {
        tcpLoadBalancer: 't',
        tcpSessionLoadBalancer: 't-session',
        udpLoadBalancer: 'u',
        udpSessionLoadBalancer: 'u-session',
        sctpLoadBalancer: 's',
        sctpSessionLoadBalancer: 's-session',
      },
    },
  ])
})

it('is nothing, and takes the names back, when nothing is balanced', () => {
  const desired = desiredBalancers({
    ...{ vpc: 'ovn-cluster', names: undefined, balancers: [], prefersLocal: false, group: undefined },
  })
  expect(shownRows(desired)).toEqual([])
  expect(shownPatches(desired)[0]).toMatchObject({ status: { tcpLoadBalancer: null } })
})
