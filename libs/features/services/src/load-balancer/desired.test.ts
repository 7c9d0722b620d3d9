import { expect, it } from 'vitest'
import { balancerNames } from '@kube-ovn/domains-control/services'
import { controlSettings } from '@kube-ovn/domains-control/testing/settings'
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

it('has the names of a VPC of its own, and one for SCTP as for TCP', () => {
  const names = balancerNames('blue', { settings: controlSettings() })
  const balancers = ([undefined, 10_800] as const).flatMap((affinity) =>
    (['tcp', 'udp', 'sctp'] as const).map((protocol) => ({
      ...{ protocol, affinity, nodes: undefined },
      name: (affinity === undefined ? names.plain : names.session)[protocol],
    })),
  )
  const desired = desiredBalancers({ vpc: 'blue', names, balancers, prefersLocal: false, group: undefined })
  const plain = { selection_fields: [], options: { prefer_local_backend: 'false' }, external_ids }
  const session = {
    selection_fields: ['ip_src', 'ipv6_src'],
    options: { affinity_timeout: '10800', prefer_local_backend: 'false' },
    external_ids,
  }
  const row = (name: string, protocol: string) => ({ row: `lb/${name}`, name, protocol })
  expect(shownRows(desired)).toEqual([
    { ...row('vpc-blue-tcp-load', 'tcp'), ...plain },
    {
      ...{ ...row('vpc-blue-udp-load', 'udp'), ...plain },
      options: { prefer_local_backend: 'false', ct_flush: 'true' },
    },
    { ...row('vpc-blue-sctp-load', 'sctp'), ...plain },
    { ...row('vpc-blue-tcp-sess-load', 'tcp'), ...session },
    { ...row('vpc-blue-udp-sess-load', 'udp'), ...session },
    { ...row('vpc-blue-sctp-sess-load', 'sctp'), ...session },
  ])
})

it('is nothing, and takes the names back, when nothing is balanced', () => {
  const desired = desiredBalancers({
    ...{ vpc: 'ovn-cluster', names: undefined, balancers: [], prefersLocal: false, group: undefined },
  })
  expect(shownRows(desired)).toEqual([])
  expect(shownPatches(desired)[0]).toMatchObject({ status: { tcpLoadBalancer: null } })
})
