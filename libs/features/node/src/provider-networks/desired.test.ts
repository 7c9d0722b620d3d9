import type { ProviderNetwork } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { connectionNames, marksOf, sourceOf } from './desired.ts'

function network(spec: Partial<NonNullable<ProviderNetwork['spec']>>, name = 'quay'): ProviderNetwork {
  return { metadata: { name }, spec: { defaultInterface: 'eth1', ...spec } }
}

describe('the interface of a node', () => {
  const customInterfaces = [
    { interface: 'bond0', nodes: ['n2', 'n1'] },
    { interface: 'bond1', nodes: ['n1'] },
  ]
  it.each([
    { spec: {}, node: 'n1', source: 'eth1' },
    { spec: { customInterfaces }, node: 'n1', source: 'bond0' },
    { spec: { customInterfaces }, node: 'n3', source: 'eth1' },
  ])('is $source of $node', ({ spec, node, source }) => {
    expect(sourceOf(network(spec), node)).toBe(source)
  })
})

describe('bridge and interface', () => {
  it('have their own names, or each the other’s', () => {
    expect(connectionNames(network({}), 'n1')).toEqual({ source: 'eth1', nic: 'eth1', bridge: 'br-quay' })
    expect(connectionNames(network({ exchangeLinkName: true }), 'n1')).toEqual({
      ...{ source: 'eth1', nic: 'br-quay', bridge: 'eth1' },
    })
  })

  it('have names that Linux takes', () => {
    expect(connectionNames(network({}, 'a23456789012'), 'n1').bridge).toBe('br-a23456789012')
    expect(() => connectionNames(network({}, 'a234567890123'), 'n1')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: 'metadata.name' }) }),
    )
    expect(() => connectionNames(network({ defaultInterface: '' }), 'n1')).toThrow(
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
    },
    annotations: { [`${suffix}/err_mesg`]: null },
  }

  it.each([
    {
      status: { kind: 'ready', source: 'eth1', mtu: 1500 } as const,
      labels: { [`${suffix}/ready`]: 'true', [`${suffix}/interface`]: 'eth1', [`${suffix}/mtu`]: '1500' },
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
