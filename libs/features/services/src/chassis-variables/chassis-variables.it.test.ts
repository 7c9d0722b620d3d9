import { endpointSlices, nodes, services } from '@kube-ovn/kube-api/core'
import { serviceL2StatusResource, type ServiceL2Status } from '@kube-ovn/kube-api'
import { endpointSlice, service } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()

const [balancer, table] = ['cluster-tcp-loadbalancer-nodes-v4', 'Chassis_Template_Var']
const ref = { namespace: 'default', name: 'web' }
const sliceRef = { namespace: 'default', name: 'web-1' }
const type = 'application/merge-patch+json'
const variable = 'lb.default.web.10_96_100_1.80.tcp'
const nothing = { transactions: 0, writes: [] }

beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  for (const name of ['n1', 'n2']) await tellChassis(name, `c-${name}`)
})

/** As the node's agent does it. */
async function tellChassis(name: string, chassis: string | null): Promise<void> {
  const annotations = { 'ovn.kubernetes.io/chassis': chassis }
  await cluster.client.patch(nodes, { name }, type, { metadata: { annotations } })
}

function variables(control: Controller): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const rows = control.rows('Chassis_Template_Var', 'chassis', 'variables')
  return Object.fromEntries(rows.map((row) => [row.chassis, row.variables]))
}

const on = (nodeName: string, address: string) => ({
  addresses: [address],
  conditions: { ready: true },
  nodeName,
})

async function createLocal(): Promise<void> {
  await cluster.client.create(services, service({ clusterIP: '10.96.100.1', internalTrafficPolicy: 'Local' }))
  const endpoints = [on('n1', '10.16.0.2'), on('n2', '10.16.0.3')]
  await cluster.client.create(endpointSlices, endpointSlice({ endpoints }))
}

async function patchSlice(...endpoints: readonly object[]): Promise<void> {
  await cluster.client.patch(endpointSlices, sliceRef, type, {
    endpoints: endpoints.map((one) => ({ ...one })),
  })
}

describe('what differs from chassis to chassis', () => {
  it('has a place for each node that has told its chassis, as long as it is there and anything differs', async () => {
    await using control = await cluster.startSettled()
    expect(variables(control)).toEqual({})
    await createLocal()
    await control.settle()
    const [one, two] = [{ [variable]: '10.16.0.2:8080' }, { [variable]: '10.16.0.3:8080' }]
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': two })
    await tellChassis('n1', 'c-other')
    await control.settle()
    expect(variables(control)).toEqual({ 'c-other': one, 'c-n2': two })
    // A machine that was given another name has two Nodes for a while.
    await tellChassis('n2', 'c-other')
    await control.settle()
    expect(variables(control)).toEqual({ 'c-other': two })
    expect(control.problems()).toEqual([])
    await tellChassis('n2', 'c-n2')
    await control.settle()
    expect(variables(control)).toEqual({ 'c-other': one, 'c-n2': two })
    await tellChassis('n1', null)
    await control.settle()
    expect(variables(control)).toEqual({ 'c-n2': two })
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect(variables(control)).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('is the list of backends of a Service whose clients are to stay on their node', async () => {
    await using control = await cluster.startSettled()
    await createLocal()
    await control.settle()
    const row = control.named('Load_Balancer', balancer)
    expect(row?.vips).toEqual({ '10.96.100.1:80': `^${variable}` })
    expect(row?.options).toMatchObject({ template: 'true', 'address-family': 'ipv4' })
    expect(control.named('Load_Balancer', 'cluster-tcp-loadbalancer')?.vips['10.96.100.1:80']).toBeUndefined()
    expect(variables(control)).toEqual({
      'c-n1': { [variable]: '10.16.0.2:8080' },
      'c-n2': { [variable]: '10.16.0.3:8080' },
    })

    await cluster.forgetCosts()
    await patchSlice(on('n1', '10.16.0.2'), on('n2', '10.16.0.4'))
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(variables(control)['c-n2']).toEqual({ [variable]: '10.16.0.4:8080' })
    await patchSlice(on('n1', '10.16.0.2'))
    await control.settle()
    expect(variables(control)).toEqual({ 'c-n1': { [variable]: '10.16.0.2:8080' }, 'c-n2': {} })

    await cluster.forgetCosts()
    await cluster.client.patch(services, ref, type, { spec: { internalTrafficPolicy: 'Cluster' } })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(control.named('Load_Balancer', balancer)).toBeUndefined()
    expect(control.named('Load_Balancer', 'cluster-tcp-loadbalancer')?.vips).toMatchObject({
      '10.96.100.1:80': '10.16.0.2:8080',
    })
    expect(variables(control)).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('is there for a node that comes later, where all clients are led somewhere', async () => {
    await using control = await cluster.startSettled()
    const zones = (name: string) => ({ hints: { forZones: [{ name }] } })
    await cluster.client.create(services, service({ clusterIP: '10.96.100.1' }))
    const endpoints = [
      { ...on('n1', '10.16.0.2'), ...zones('east') },
      { ...on('n2', '10.16.0.3'), ...zones('west') },
    ]
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints }))
    await control.settle()
    const all = { [variable]: '10.16.0.2:8080,10.16.0.3:8080' }
    expect(variables(control)).toEqual({ 'c-n1': all, 'c-n2': all })
    const labels = { 'topology.kubernetes.io/zone': 'west' }
    await cluster.client.patch(nodes, { name: 'n1' }, type, { metadata: { labels } })
    await cluster.client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n3', annotations: { 'ovn.kubernetes.io/chassis': 'c-n3' } },
    })
    await control.settle()
    const west = { [variable]: '10.16.0.3:8080' }
    expect(variables(control)).toEqual({ 'c-n1': west, 'c-n2': all, 'c-n3': all })
  })

  it('is where an address from outside is announced, and moves with that', async () => {
    const flags = { enableOvnLbPreferLocal: true, metallbNamespace: 'kube-system' }
    const outside = service({
      clusterIP: '10.96.100.1',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
    })
    await cluster.client.create(services, outside)
    const ingress = [{ ip: '172.18.0.200' }]
    const subresource = { subresource: 'status' }
    await cluster.client.patch(services, ref, type, { status: { loadBalancer: { ingress } } }, subresource)
    const endpoints = [on('n1', '10.16.0.2'), on('n2', '10.16.0.3')]
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints }))
    await using control = await cluster.startSettled({ flags })
    const announced = variable.replace('10_96_100_1', '172_18_0_200')
    const [one, two] = [{ [announced]: '10.16.0.2:8080' }, { [announced]: '10.16.0.3:8080' }]
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': two })
    const toldIn = (namespace: string): ServiceL2Status => ({
      ...{ apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status', metadata: { namespace, name: 'l2-1' } },
    })
    const announce = async (node: string, namespace = 'kube-system'): Promise<void> => {
      const status = { node, serviceNamespace: 'default', serviceName: 'web' }
      const { metadata } = toldIn(namespace)
      await cluster.client.patch(serviceL2StatusResource, metadata, type, { status }, subresource)
      await control.settle()
    }
    // Who has a namespace of their own speaks for nobody else's Service.
    await cluster.client.create(serviceL2StatusResource, toldIn('default'))
    await announce('n1', 'default')
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': two })
    await cluster.client.create(serviceL2StatusResource, toldIn('kube-system'))
    await announce('n1')
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': {} })
    await cluster.forgetCosts()
    await announce('n2')
    expect(variables(control)).toEqual({ 'c-n1': {}, 'c-n2': two })
    expect((await cluster.costs()).transactions).toBe(1)
    // Who takes the status of another speaker over labels it, and leaves in it what the other one wrote.
    const { metadata } = toldIn('kube-system')
    const takenOver = { metadata: { labels: { 'metallb.io/node': 'n1' } } }
    await cluster.client.patch(serviceL2StatusResource, metadata, type, takenOver)
    await control.settle()
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': {} })
    await cluster.client.remove(serviceL2StatusResource, metadata)
    await control.settle()
    expect(variables(control)).toEqual({ 'c-n1': one, 'c-n2': two })
    expect(control.named('Load_Balancer', balancer)?.vips).toEqual({ '172.18.0.200:80': `^${announced}` })
    await cluster.client.remove(services, ref)
    await control.settle()
    expect([variables(control), control.named('Load_Balancer', balancer)]).toEqual([{}, undefined])
    expect(control.problems()).toEqual([])
  })

  it('costs nothing at a restart, and what happened meanwhile is caught up with', async () => {
    await createLocal()
    {
      await using control = await cluster.startController()
      await control.settle()
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.client.remove(services, ref)
    await cluster.client.remove(nodes, { name: 'n2' })
    await using control = await cluster.startController()
    await control.settle()
    expect(variables(control)).toEqual({})
    expect(control.named('Load_Balancer', balancer)).toBeUndefined()
  })

  it('is back when somebody takes or changes it, and rows of others stay', async () => {
    await createLocal()
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    const before = variables(control)
    await northbound.nbctl('create', table, 'chassis=theirs', 'variables:a=b')
    const row = (await northbound.nbctl('--bare', '--columns=_uuid', 'find', table, 'chassis=c-n1')).trim()
    await northbound.nbctl('set', table, row, `variables:${variable}=nonsense`, 'variables:stray=1')
    await control.settle()
    expect(variables(control)).toEqual({ ...before, theirs: { a: 'b' } })
    await northbound.nbctl('destroy', table, row)
    await control.settle()
    expect(variables(control)).toEqual({ ...before, theirs: { a: 'b' } })
  })
})
