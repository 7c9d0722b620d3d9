import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { desiredServices, planOf, type PortPlan } from './desired.ts'
import { servedPorts } from './served-ports.ts'
import { flowFrontends } from './stale-flow-sink.ts'

const port = { port: 53, protocol: 'UDP' } as const

function plansOf(
  name: string,
  spec: NonNullable<Service['spec']>,
  backend?: string,
  status: NonNullable<Service['status']> = {},
): readonly PortPlan[] {
  const service = { metadata: { name, namespace: 'shop' }, spec: { ports: [port], ...spec }, status }
  const slice: EndpointSlice = {
    metadata: { name },
    addressType: 'IPv4',
    endpoints: backend === undefined ? [] : [{ addresses: [backend] }],
    ports: [{ name: '', port: 5353, protocol: 'UDP' }],
  }
  return servedPorts(service, [slice], { node: 'n1', zone: undefined }).map(planOf)
}

it.each([
  ['is led to its backends', '10.16.0.2', 'addresses-4', ['10.16.0.2:5353']],
  ['is refused while it has none', undefined, 'nobody-4', []],
])('a cluster address that another Service names as its own from outside %s', (_name, backend, map, led) => {
  const robber = plansOf('a', { clusterIPs: ['10.96.0.2'], externalIPs: ['10.96.0.10'] }, '10.16.0.66')
  const owner = plansOf('dns', { clusterIPs: ['10.96.0.10'] }, backend)
  const snapshot = { plans: [...robber, ...owner], services: [], allocated: [], pods: [] }
  const found = desiredServices(snapshot).maps?.flatMap(({ name, elements = [] }) =>
    elements.filter(([key]) => JSON.stringify(key).includes('10.96.0.10')).map((one) => [name, one] as const),
  )
  const [own] = owner.flatMap(({ entries }) => [...entries.addresses, ...entries.nobody])
  expect(found).toEqual([[map, own]])
  expect(flowFrontends(snapshot, { local: [], others: [] }).byAddress['10.96.0.10:53']).toEqual(led)
})

it('an address from outside is of who stands first, as he guards it, also while nobody is behind it', () => {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } }
  const older = plansOf('z', { clusterIPs: ['10.96.0.2'], externalIPs: ['192.0.2.9'] })
  const guard = { type: 'LoadBalancer', loadBalancerSourceRanges: ['198.51.100.0/24'] } as const
  const younger = plansOf('a', { clusterIPs: ['10.96.0.3'], ...guard }, '10.16.0.66', status)
  const found = (...plans: readonly PortPlan[]) =>
    desiredServices({ plans, services: [], allocated: [], pods: [] }).maps?.flatMap(
      ({ name, elements = [] }) =>
        elements.flatMap(([key]) => (JSON.stringify(key).includes('192.0.2.9') ? [name] : [])),
    )
  expect(found(...older, ...younger)).toEqual(['nobody-4'])
  expect(found(...younger, ...older)).toEqual(['addresses-4', 'guarded-4'])
})
