import { providerNetworkKeysOf } from '@kube-ovn/annotations'
import type { ProviderNetwork } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { connectionNames, marksOf, nicChoiceOf } from './desired.ts'

function network(spec: Partial<NonNullable<ProviderNetwork['spec']>>, name = 'quay'): ProviderNetwork {
  return { metadata: { name }, spec: { defaultInterface: 'eth1', ...spec } }
}

describe('the interface of a node', () => {
  const customInterfaces = [
    { interface: 'bond0', nodes: ['n2', 'n1'] },
    { interface: 'bond1', nodes: ['n1'] },
  ]
  const key = providerNetworkKeysOf('quay').interface
  it.each([
    { spec: {}, node: { name: 'n1' }, source: 'eth1', field: 'spec.defaultInterface' },
    { spec: { customInterfaces }, node: { name: 'n1' }, source: 'bond0', field: 'spec.customInterfaces' },
    { spec: { customInterfaces }, node: { name: 'n3' }, source: 'eth1', field: 'spec.defaultInterface' },
    {
      spec: { customInterfaces },
      node: { name: 'n1', annotations: { [key]: 'eth7' } },
      ...{ source: 'eth7', field: `annotation ${key}` },
    },
    {
      spec: { customInterfaces },
      node: { name: 'n1', annotations: { [key]: '' } },
      ...{ source: 'bond0', field: 'spec.customInterfaces' },
    },
    {
      spec: {},
      node: { name: 'n1', annotations: { [providerNetworkKeysOf('pier').interface]: 'eth7' } },
      ...{ source: 'eth1', field: 'spec.defaultInterface' },
    },
  ])('is $source of $node', ({ spec, node, source, field }) => {
    expect(nicChoiceOf(network(spec), node)).toEqual({ source, field })
  })
})

describe('bridge and interface', () => {
  const node = { name: 'n1' }

  it('have their own names, or each the other’s', () => {
    const of = { source: 'eth1', field: 'spec.defaultInterface' }
    expect(connectionNames(network({}), node)).toEqual({ ...of, nic: 'eth1', bridge: 'br-quay' })
    expect(connectionNames(network({ exchangeLinkName: true }), node)).toEqual({
      ...{ ...of, nic: 'br-quay', bridge: 'eth1' },
    })
  })

  it('have names that Linux takes', () => {
    expect(connectionNames(network({}, 'a23456789012'), node).bridge).toBe('br-a23456789012')
    expect(() => connectionNames(network({}, 'a234567890123'), node)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: 'metadata.name' }) }),
    )
    expect(() => connectionNames(network({ defaultInterface: '' }), node)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: 'spec.defaultInterface' }) }),
    )
  })
})

describe('what a node says', () => {
  const suffix = 'quay.provider-network.kubernetes.io'
  const none = {
    labels: {
      [`${suffix}/ready`]: null,
      [`${suffix}/interface`]: null,
      [`${suffix}/mtu`]: null,
      [`${suffix}/exclude`]: null,
      [`${suffix}/vlan_interfaces`]: null,
    },
    annotations: { [`${suffix}/err_mesg`]: null },
  }

  it.each([
    {
      status: { kind: 'ready', source: 'eth1', mtu: 1500, keepsVlans: false } as const,
      labels: { [`${suffix}/ready`]: 'true', [`${suffix}/interface`]: 'eth1', [`${suffix}/mtu`]: '1500' },
    },
    {
      status: { kind: 'ready', source: 'eth1', mtu: 1500, keepsVlans: true } as const,
      labels: {
        ...{ [`${suffix}/ready`]: 'true', [`${suffix}/interface`]: 'eth1', [`${suffix}/mtu`]: '1500' },
        [`${suffix}/vlan_interfaces`]: 'true',
      },
    },
    { status: { kind: 'excluded' } as const, labels: { [`${suffix}/exclude`]: 'true' } },
    {
      status: { kind: 'failed', problem: 'no eth1' } as const,
      annotations: { [`${suffix}/err_mesg`]: 'no eth1' },
    },
    { status: { kind: 'pending' } as const },
    { status: undefined },
  ])('of $status.kind', ({ status, labels, annotations }) => {
    expect(marksOf('quay', status)).toEqual({
      labels: { ...none.labels, ...labels },
      annotations: { ...none.annotations, ...annotations },
    })
  })
})
