import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { healthCheck } from './health-checks.ts'
import { servedPorts } from './served-ports.ts'

const slice: EndpointSlice = {
  metadata: { name: 'web-1' },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.16.0.2'], nodeName: 'n1' },
    { addresses: ['10.16.0.3'], nodeName: 'n2' },
  ],
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
}

function served(
  spec: NonNullable<Service['spec']>,
  more: Partial<Service> = {},
): ReturnType<typeof servedPorts> {
  const service = {
    ...{ metadata: { name: 'web', namespace: 'shop' } },
    ...more,
    spec: { clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }], ...spec },
  }
  return servedPorts(service, [slice], { node: 'n1', zone: undefined })
}

const all = ['10.16.0.2:8080', '10.16.0.3:8080']
const own = ['10.16.0.2:8080']

it('leads everybody to all backends where no policy says otherwise', () => {
  const [port, ...others] = served({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] })
  expect(others).toEqual([])
  expect([port?.inside.list, port?.outside.list, port?.nodePort]).toEqual([all, all, 30_080])
})

it('leads to backends of the node as each policy says, which is about its own side', () => {
  const [outside] = served({ type: 'NodePort', externalTrafficPolicy: 'Local' })
  expect([outside?.inside.list, outside?.outside.list, outside?.keepsSource]).toEqual([all, own, true])
  const [inside] = served({ type: 'NodePort', internalTrafficPolicy: 'Local' })
  expect([inside?.inside.list, inside?.outside.list, inside?.keepsSource]).toEqual([own, all, false])
})

it('takes addresses that a balancer has given, but for those of proxies, and guards these alone', () => {
  const ingress = [{ ip: '203.0.113.8' }, { ip: '203.0.113.9', ipMode: 'Proxy' as const }, { hostname: 'a' }]
  const spec = {
    type: 'LoadBalancer' as const,
    externalIPs: ['203.0.113.7', 'nonsense'],
    loadBalancerSourceRanges: ['198.51.100.0/24', 'nonsense', 'fd00::/8'],
  }
  const [port] = served(spec, { status: { loadBalancer: { ingress } } })
  expect(port?.externalIps).toEqual(['203.0.113.7', '203.0.113.8'])
  expect(port?.guarded).toEqual({ addresses: ['203.0.113.8'], sources: ['198.51.100.0/24'] })
})

it('lets a node in that may ask, also by an address of the Service that it has itself', () => {
  const spec = { clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }], type: 'LoadBalancer' } as const
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.8' }] } }
  const sourcesOf = (range: string) => {
    const ranged = { ...spec, clusterIPs: [...spec.clusterIPs], ports: [...spec.ports] }
    const service = {
      metadata: { name: 'web' },
      spec: { ...ranged, loadBalancerSourceRanges: [range] },
      status,
    }
    const addresses = ['fd00::10', '192.0.2.10']
    return servedPorts(service, [slice], { node: 'n1', zone: undefined }, { addresses })[0]?.guarded.sources
  }
  expect(sourcesOf('192.0.2.9/28')).toEqual(['192.0.2.0/28', '203.0.113.8'])
  expect(sourcesOf('192.0.2.64/28')).toEqual(['192.0.2.64/28'])
})

it('has flows of UDP stay with whoever serves, and new ones go to who is ready', () => {
  const endings = { ready: false, terminating: true }
  const mixed: EndpointSlice = {
    ...slice,
    ports: [{ name: '', port: 53, protocol: 'UDP' }],
    endpoints: [
      { addresses: ['10.16.0.2'], nodeName: 'n1' },
      { addresses: ['10.16.0.3'], nodeName: 'n2', conditions: { ...endings, serving: true } },
      { addresses: ['10.16.0.4'], nodeName: 'n2', conditions: endings },
      { addresses: ['10.16.0.5'], nodeName: 'n2', conditions: { ...endings, serving: false } },
      { addresses: ['10.16.0.6'], nodeName: 'n1', conditions: { ready: true, serving: false } },
    ],
  }
  const ports = [{ port: 53, protocol: 'UDP' as const }]
  const service: Service = { metadata: { name: 'dns' }, spec: { clusterIPs: ['10.96.0.1'], ports } }
  const [port] = servedPorts(service, [mixed], { node: 'n1', zone: undefined })
  expect(port?.inside.list).toEqual(['10.16.0.2:53', '10.16.0.6:53'])
  expect(port?.held).toEqual(['10.16.0.2:53', '10.16.0.3:53', '10.16.0.4:53', '10.16.0.6:53'])
})

it.each([
  [{ ready: false, terminating: true }, ['10.16.0.2:8080']],
  [{ ready: false, serving: false, terminating: true }, []],
  [{ ready: false, serving: true }, []],
  [{ ready: false }, []],
])('when nobody is ready, leads to who ends and serves, as far as anybody says: %j', (conditions, led) => {
  const last = { ...slice, endpoints: [{ addresses: ['10.16.0.2'], nodeName: 'n1', conditions }] }
  const service: Service = {
    metadata: { name: 'web' },
    spec: { clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }] },
  }
  expect(servedPorts(service, [last], { node: 'n1', zone: undefined })[0]?.inside.list).toEqual(led)
})

it.each<readonly [string, NonNullable<Service['spec']>, Partial<Service>]>([
  ['is headless', { clusterIPs: ['None'] }, {}],
  ['is a name for another one', { type: 'ExternalName' }, {}],
  ['another proxy serves', {}, labelled('service.kubernetes.io/service-proxy-name', 'other')],
  ['its user calls headless', {}, labelled('service.kubernetes.io/headless', '')],
])('leaves out what %s', (_name, spec, more) => {
  expect(served(spec, more)).toEqual([])
})

it('tells no balancer of what the usual proxy does not serve', () => {
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32_100 } as const
  const told = (more: Pick<Service, 'metadata'>) => healthCheck({ spec, ...more }, [slice], 'n1')
  expect(told({ metadata: { name: 'web' } })).toMatchObject({ localEndpoints: 1 })
  expect(told(labelled('service.kubernetes.io/service-proxy-name', 'other'))).toBeUndefined()
  expect(told(labelled('service.kubernetes.io/headless', ''))).toBeUndefined()
})

it('takes no name for a backend, even if it reads like an address', () => {
  const names: EndpointSlice = {
    ...slice,
    ...{ metadata: { name: 'web-2' }, addressType: 'FQDN' },
    endpoints: [{ addresses: ['10.16.0.9'], nodeName: 'n1' }],
  }
  const spec: Service['spec'] = {
    ...{ clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }], healthCheckNodePort: 32_100 },
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
  }
  const of: Service = { metadata: { name: 'web' }, spec }
  const [port] = servedPorts(of, [slice, names], { node: 'n1', zone: undefined })
  expect(port?.inside.list).toEqual(all)
  expect(healthCheck(of, [names], 'n1')).toMatchObject({ localEndpoints: 0 })
})

function labelled(key: string, value: string): Pick<Service, 'metadata'> {
  return { metadata: { name: 'web', labels: { [key]: value } } }
}
