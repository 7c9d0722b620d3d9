import { serviceAnnotations } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { endpointSlices, nodes, services } from '@kube-ovn/kube-api/core'
import { endpointSlice, providerNetwork, service, subnet, vlan } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { backendsVariable } from '@kube-ovn/ovn-names'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const type = 'application/merge-patch+json'
const names = ['n1', 'n2', 'n3'] as const
const address = '172.19.0.200'

beforeEach(async () => {
  const { client, user } = cluster
  await user.createNodes(...names)
  for (const name of names) {
    const annotations = { 'ovn.kubernetes.io/chassis': `chassis-${name}` }
    await client.patch(nodes, { name }, type, { metadata: { annotations } })
  }
  await client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
})

async function createYard(spec: SubnetSpec = {}): Promise<void> {
  const given = { cidrBlock: '172.19.0.0/24,fd00:172:19::/112', vlan: 'v10', enableExternalLBAddress: true }
  const more = { excludeIps: ['172.19.0.200..172.19.0.220'], u2oInterconnection: true }
  await cluster.client.create(subnetResource, subnet({ name: 'yard', ...given, ...more, ...spec }))
}

/** A Service of type LoadBalancer with an address, as MetalLB gives it one. */
async function createWeb(ip = address): Promise<void> {
  const { client } = cluster
  const ports = [
    { name: 'http', port: 80, protocol: 'TCP' as const },
    { name: 'bulk', port: 90, protocol: 'SCTP' as const },
  ]
  await client.create(services, service({ type: 'LoadBalancer', clusterIP: '10.96.100.1', ports }))
  await setIngress(ip)
  await setBackends([
    ['10.16.0.2', 'n1'],
    ['10.16.0.3', 'n2'],
    ['10.16.0.4', 'n2'],
  ])
}

async function setIngress(ip: string): Promise<void> {
  const status = { loadBalancer: { ingress: [{ ip }, { hostname: 'lb.example.com' }] } }
  await cluster.client.patch(
    services,
    { namespace: 'default', name: 'web' },
    type,
    { status },
    { subresource: 'status' },
  )
}

async function setBackends(backends: readonly (readonly [address: string, node: string])[]): Promise<void> {
  const { client } = cluster
  const ref = { namespace: 'default', name: 'web-1' }
  const endpoints = backends.map(([ip, nodeName]) => ({
    addresses: [ip],
    conditions: { ready: true },
    nodeName,
  }))
  const ports = [
    { name: 'http', port: 8080, protocol: 'TCP' as const },
    { name: 'bulk', port: 9090, protocol: 'SCTP' as const },
  ]
  if ((await client.get(endpointSlices, ref)) !== undefined)
    await client.patch(endpointSlices, ref, type, { endpoints })
  else await client.create(endpointSlices, endpointSlice({ endpoints, ports }))
}

async function published(): Promise<unknown> {
  return (await cluster.client.get(subnetResource, { name: 'yard' }))?.status?.externalAddresses
}

/** Backends of the address on each chassis. */
function backends(control: Controller): Readonly<Record<string, string | undefined>> {
  const variable = backendsVariable({
    namespace: 'default',
    service: 'web',
    address,
    port: 80,
    protocol: 'tcp',
  })
  const rows = control.rows('Chassis_Template_Var', 'chassis', 'variables')
  return Object.fromEntries(
    rows.flatMap(({ chassis, variables }) => (variable in variables ? [[chassis, variables[variable]]] : [])),
  )
}

it('is served by OVN on each node, by backends there first, and nodes with some are told', async () => {
  await using control = await cluster.startSettled()
  await createYard()
  await createWeb()
  await control.settle()
  expect(await published()).toEqual([{ address, protocol: 'tcp', port: 80, nodes: ['n1', 'n2'] }])
  const all = '10.16.0.2:8080,10.16.0.3:8080,10.16.0.4:8080'
  const own = {
    'chassis-n1': '10.16.0.2:8080',
    'chassis-n2': '10.16.0.3:8080,10.16.0.4:8080',
    'chassis-n3': all,
  }
  expect(backends(control)).toEqual(own)
  expect(await cluster.user.told('yard')).toEqual([])

  await setBackends([['10.16.0.3', 'n2']])
  await control.settle()
  expect(await published()).toEqual([{ address, protocol: 'tcp', port: 80, nodes: ['n2'] }])
  // One more there is no news for nodes.
  await cluster.forgetCosts()
  await setBackends([['10.16.0.9', 'n2']])
  await control.settle()
  expect((await cluster.costs()).writes).toEqual([])

  await setIngress('192.0.2.7')
  await control.settle()
  expect([await published(), backends(control)]).toEqual([undefined, {}])
  await setIngress(address)
  await control.settle()
  expect(await published()).toEqual([{ address, protocol: 'tcp', port: 80, nodes: ['n2'] }])
  await cluster.client.remove(services, { namespace: 'default', name: 'web' })
  await control.settle()
  expect([await published(), backends(control)]).toEqual([undefined, {}])
  expect(control.problems()).toEqual([])
})

it('is not served for a Service that is to be reached at addresses of choice', async () => {
  await using control = await cluster.startSettled()
  await createYard()
  await createWeb()
  const annotations = { [serviceAnnotations.switchLbVip.key]: '1.1.1.1' }
  const web = { namespace: 'default', name: 'web' }
  await cluster.client.patch(services, web, type, { metadata: { annotations } })
  await control.settle()
  expect([await published(), backends(control)]).toEqual([undefined, {}])
  expect(Object.keys(control.named('Load_Balancer', 'cluster-tcp-loadbalancer')?.vips ?? {})).toContain(
    '1.1.1.1:80',
  )
})

it('costs nothing at an edit of its Service where it lies in a Subnet in which OVN does not serve it', async () => {
  await using control = await cluster.startSettled()
  await createWeb('10.16.0.200')
  await control.settle()
  await cluster.forgetCosts()
  const web = { namespace: 'default', name: 'web' }
  await cluster.client.patch(services, web, type, { metadata: { labels: { tier: 'front' } } })
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
})

it('costs nothing at a restart, comes and goes with what its Subnet says, and is put back', async () => {
  {
    await using control = await cluster.startSettled()
    await createYard()
    await createWeb()
    await control.settle()
  }
  await using control = await cluster.startController()
  await cluster.forgetCosts()
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  const want = [{ address, protocol: 'tcp', port: 80, nodes: ['n1', 'n2'] }]
  const status = { externalAddresses: [{ address: '192.0.2.1', protocol: 'tcp', port: 1, nodes: ['n3'] }] }
  await cluster.client.patch(subnetResource, { name: 'yard' }, type, { status }, { subresource: 'status' })
  await control.settle()
  expect(await published()).toEqual(want)
  await cluster.user.edit(subnetResource, 'yard', { enableExternalLBAddress: false })
  await control.settle()
  expect([await published(), backends(control)]).toEqual([undefined, {}])
  await cluster.user.edit(subnetResource, 'yard', { enableExternalLBAddress: true })
  await control.settle()
  expect(await published()).toEqual(want)
})

it.each([
  [{ vlan: '', u2oInterconnection: false }, 'write it on an underlay Subnet, with a vlan'],
  [{ enableLb: false }, 'write spec.enableLb true, or remove it: kube-proxy serves them'],
  [
    { u2oInterconnection: false },
    'write spec.u2oInterconnection true: by the router what OVN has translated finds its backend',
  ],
])('is not served where OVN can not, which is told with the cure: %j', async (spec, cure) => {
  await using control = await cluster.startSettled()
  await createYard(spec)
  await createWeb()
  await control.settle()
  expect([await published(), backends(control)]).toEqual([undefined, {}])
  expect(await cluster.user.told('yard')).toEqual([
    `ExternalAddressesNotServed: OVN serves no addresses of external load balancers in the Subnet (field=spec.enableExternalLBAddress value=true); ${cure}`,
  ])
})
