import { describe, expect, it } from 'vitest'
import { missingFeatures, needless } from './data.ts'
import { ignoredFlags } from './flags.ts'
import { ignoredAnnotations, ignoredFields, ignoredTexts, maybeIgnored } from './ignored.ts'

function texts(spec: object): readonly string[] {
  return ignoredTexts(ignoredFields(spec))
}

describe('fields', () => {
  it.each([
    undefined,
    {},
    {
      nodeNetwork: '',
    },
    { cidrBlock: '10.0.0.0/8', mtu: 1400 },
  ])('%j asks for nothing that is not there', (spec) => {
    expect(ignoredFields(spec)).toEqual([])
  })

  it('are told shortly, however long they are', () => {
    expect(texts({ nodeNetwork: 'x'.repeat(100_000) })[0]?.length).toBeLessThan(300)
  })
})

describe('annotations of a Pod', () => {
  const networks = ['ovn', 'attach.shop.ovn']

  it('count for the networks that it is in', () => {
    const annotations = {
      'ovn.kubernetes.io/snat': '172.18.0.2',
      'attach.shop.ovn.kubernetes.io/pod_nic_type': 'dpdk-port',
      'other.shop.ovn.kubernetes.io/pod_nic_type': 'dpdk-port',
      'attach.shop.ovn.kubernetes.io/eip': '172.18.0.1',
    }
    expect(maybeIgnored(annotations)).toBe(true)
    expect(ignoredAnnotations('Pod', annotations, networks).map(({ field }) => field)).toEqual([
      'annotation ovn.kubernetes.io/snat',
      'annotation attach.shop.ovn.kubernetes.io/pod_nic_type',
    ])
  })

  it.each([
    { 'ovn.kubernetes.io/pod_nic_type': 'veth-pair', 'ovn.kubernetes.io/eip': '0' },
    { 'ovn.kubernetes.io/snat': '' },
  ])('%j ask for nothing', (annotations) => {
    expect(ignoredAnnotations('Pod', annotations, networks)).toEqual([])
  })

  it('of others are none', () => {
    expect(maybeIgnored({ 'example.com/note': 'x', 'ovn.kubernetes.io/ip_address': '10.0.0.1' })).toBe(false)
  })
})

describe('flags', () => {
  const flag = (name: string, value: string, fallback: string) => ({ name, value, fallback })

  it.each([
    ['asked for', flag('enable-external-vpc', 'true', 'false'), 1],
    ['on by default, and not there', flag('enable-pprof', 'true', 'true'), 1],
    ['switched off', flag('enable-pprof', 'false', 'true'), 0],
    ['as they are by default', flag('external-gateway-net', 'external', 'external'), 0],
    ['needless', flag('worker-num', '10', '3'), 1],
    ['given by the chart', flag('frr-image', 'kube-ovn/frr', ''), 0],
    ['in effect', flag('default-cidr', '10.0.0.0/8', '10.16.0.0/16'), 0],
  ])('that are %s', (_name, given, count) => {
    expect(ignoredFlags('controller', [given])).toHaveLength(count)
  })

  it('are told with their value and why', () => {
    expect(ignoredFlags('agent', [flag('set-vxlan-tx-off', 'true', 'false')])).toEqual([
      '--set-vxlan-tx-off=true has no effect: the switch for the offload of VXLAN is not there yet; use ethtool on the node',
    ])
    expect(ignoredFlags('speaker', [flag('grpc-port', '50052', '50051')])).toEqual([
      '--grpc-port=50052 has no effect: no GoBGP is there to be asked; kubectl get bgppeers tells of sessions',
    ])
  })
})

it('names nothing twice', () => {
  for (const key of ['subnet', 'nic', 'controllerFlags', 'agentFlags', 'nodeLabels'] as const) {
    const names = missingFeatures.flatMap(({ [key]: all = [] }) => all)
    expect(names).toEqual([...new Set(names)])
  }
  const whys = needless.map(({ why }) => why)
  expect(whys).toEqual([...new Set(whys)])
})
