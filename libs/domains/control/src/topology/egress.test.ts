import { formatIp } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { resolveEgress } from './egress.ts'

function gatewaysOf(spec: SubnetSpec): unknown {
  const { gateways } = resolveEgress('blue', { gatewayType: 'centralized', ...spec }) ?? {}
  return gateways?.nodes.map(({ node, addresses }) =>
    [node, ...addresses.map((ip) => formatIp(ip))].join(' '),
  )
}

const outside: SubnetSpec = {
  externalEgressGateway: 'fd00:192::1, 192.168.0.1',
  policyRoutingPriority: 1001,
  policyRoutingTableID: 1002,
}

describe('resolveEgress', () => {
  it('is nothing for a subnet that leaves by the node of each pod', () => {
    expect(
      resolveEgress('blue', { gatewayNode: 'n1', enableEcmp: true, gatewayType: 'distributed' }),
    ).toBeUndefined()
    expect(resolveEgress('blue', {})).toBeUndefined()
  })

  it.each([
    { gatewayNode: 'n1,n2', nodes: ['n1', 'n2'] },
    { gatewayNode: ' n2 , w1:172.18.0.30 ,, n2', nodes: ['n2', 'w1 172.18.0.30'] },
    { gatewayNode: 'w1:172.18.0.30,n2,w1:fd00::30', nodes: ['w1 172.18.0.30 fd00::30', 'n2'] },
    { gatewayNode: 'n1:fd00:0::1', nodes: ['n1 fd00::1'] },
    { gatewayNode: '', nodes: [] },
  ])('reads gateway nodes of $gatewayNode', ({ gatewayNode, nodes }) => {
    expect(gatewaysOf({ gatewayNode })).toEqual(nodes)
  })

  it('reads a gateway outside of the cluster', () => {
    expect(resolveEgress('blue', outside)?.external).toEqual({
      addresses: '192.168.0.1,fd00:192::1',
      priority: 1001,
      table: 1002,
    })
  })

  it('comes just before the main table without a priority', () => {
    expect(resolveEgress('blue', { ...outside, policyRoutingPriority: 0 })?.external?.priority).toBe(32_765)
  })

  it.each([
    {
      spec: { gatewayType: 'centralized', gatewayNode: 'n1:172.18.0.300' },
      ...{ field: 'spec.gatewayNode', value: '172.18.0.300' },
    },
    {
      spec: { gatewayType: 'centralized', gatewayNode: Array(2000).fill('n').join() },
      ...{ field: 'spec.gatewayNode', value: '2000 entries' },
    },
    {
      spec: { ...outside, natOutgoing: true },
      ...{ field: 'spec.externalEgressGateway', value: 'fd00:192::1, 192.168.0.1' },
    },
    {
      spec: { ...outside, externalEgressGateway: '10.0.0.1,10.0.0.2' },
      ...{ field: 'spec.externalEgressGateway', value: '10.0.0.1,10.0.0.2' },
    },
    { spec: { ...outside, policyRoutingTableID: 254 }, field: 'spec.policyRoutingTableID', value: '254' },
    { spec: { ...outside, policyRoutingTableID: 0 }, field: 'spec.policyRoutingTableID', value: '0' },
    {
      spec: { ...outside, policyRoutingPriority: 32_766 },
      ...{ field: 'spec.policyRoutingPriority', value: '32766' },
    },
  ])('refuses $field $value', ({ spec, field, value }) => {
    expect(() => resolveEgress('blue', spec)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ subnet: 'blue', field, value }) as unknown,
      }),
    )
  })
})
