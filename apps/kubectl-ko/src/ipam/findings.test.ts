import type { Pod } from '@kube-ovn/kube'
import type { Ip } from '@kube-ovn/kube-api'
import { parseIp } from '@kube-ovn/ip'
import { expect, it } from 'vitest'
import type { AddressFacts } from '../facts.ts'
import { claimsOf, subnetsWith } from './claims.ts'
import { findingsOf } from './findings.ts'

function record(name: string, pod: string, address: string, more: Ip['spec'] = {}): Ip {
  const spec = { subnet: 's', namespace: 'shop', podName: pod, v4IpAddress: address, ...more }
  return { metadata: { name }, spec }
}

function pod(name: string, address: string): Pod {
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': address,
    'ovn.kubernetes.io/logical_switch': 's',
    'ovn.kubernetes.io/mac_address': '02:00:00:00:00:01',
  }
  return {
    metadata: { name, namespace: 'shop', annotations },
    spec: { nodeName: 'n1', containers: [] },
    status: { phase: 'Running' },
  }
}

const sound: AddressFacts = {
  nodes: [],
  services: [],
  vips: [],
  subnets: [{ metadata: { name: 's' }, spec: { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' } }],
  pods: [pod('web', '10.0.0.5')],
  ips: [record('web.shop', 'web', '10.0.0.5')],
}

it('finds no contradiction where all agree', () => {
  expect(findingsOf(sound)).toEqual([])
})

it.each<[string, Partial<AddressFacts>, readonly string[]]>([
  [
    'an address that two have',
    { ips: [...sound.ips, record('db.shop', 'web', '10.0.0.5')] },
    ['held-twice IP db.shop'],
  ],
  [
    'an address that its subnet does not have',
    { ips: [record('web.shop', 'web', '10.9.0.5')], pods: [pod('web', '10.9.0.5')] },
    ['outside IP web.shop'],
  ],
  ['a record of a pod that is gone', { pods: [] }, ['ownerless IP web.shop']],
  ['a pod without record', { ips: [] }, ['unrecorded Pod shop/web']],
])('finds %s', (_what, change, found) => {
  const findings = findingsOf({ ...sound, ...change })
  expect(findings.map(({ rule, object }) => `${rule} ${object}`)).toEqual(found)
})

it.each<[string, Ip]>([
  ['what a StatefulSet keeps', record('web.shop', 'gone', '10.0.0.5', { podType: 'StatefulSet' })],
  ['what a user reserves', record('reserved', '', '10.0.0.9')],
])('does not call a leak %s', (_what, ip) => {
  expect(findingsOf({ ...sound, pods: [], ips: [ip] })).toEqual([])
})

it('tells everybody who has an address, and where it would be', () => {
  const claims = claimsOf(sound)
  expect(
    claims
      .filter(({ address }) => address === '10.0.0.5')
      .map(({ kind, name, as }) => `${kind} ${name}: ${as}`),
  ).toEqual(['IP web.shop: of pod shop/web', 'Pod shop/web: first NIC'])
  expect(claims.filter(({ address }) => address === '10.0.0.1')).toMatchObject([
    { kind: 'Subnet', as: 'gateway' },
  ])
  expect(subnetsWith(sound, parseIp('10.0.0.200'))).toEqual(['s'])
  expect(subnetsWith(sound, parseIp('10.1.0.1'))).toEqual([])
})
