import { podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { apiVersion, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import type { Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, service, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const [tcp, udp] = ['cluster-tcp-loadbalancer', 'cluster-udp-loadbalancer']
const session = 'cluster-tcp-session-loadbalancer'
const ref = { namespace: 'default', name: 'web' }
const sliceRef = { namespace: 'default', name: 'web-1' }
const vpcObject = { apiVersion, kind: 'Vpc', spec: {} }
const nothing = { transactions: 0, writes: [] }

/** The vips of a load balancer, but for that of the API server; `undefined` when there is no such load balancer. */
function vipsOf(control: Controller, name: string): Readonly<Record<string, string>> | undefined {
  const row = control.named('Load_Balancer', name)
  return row && Object.fromEntries(Object.entries(row.vips).filter(([vip]) => !vip.includes(':443')))
}

function balancersOf(control: Controller, name: string): readonly string[] {
  const uuids = control.named('Logical_Switch', name)?.load_balancer ?? []
  return uuids.map((uuid) => control.world.northbound.get('Load_Balancer', uuid)?.name ?? uuid).sort()
}

async function createWeb(fields: Parameters<typeof service>[0] = {}): Promise<Service> {
  const made = await cluster.client.create(services, service({ clusterIP: '10.96.100.1', ...fields }))
  await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.16.0.2', '10.16.0.3'] }))
  return made
}

async function change(what: 'Service' | 'slice', merge: object): Promise<void> {
  const type = 'application/merge-patch+json'
  if (what === 'Service') await cluster.client.patch(services, ref, type, { ...merge })
  else await cluster.client.patch(endpointSlices, sliceRef, type, { ...merge })
}

const endpointsOf = (...addresses: readonly string[]) => ({
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
})

/** Entries of vips that transactions mutated since, by what the server's rows say before and after. */
function changedVips(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].filter((key) => before[key] !== after[key])
}

describe('the load balancers of a VPC', () => {
  it('are there, named in its status, and attached to switches of subnets but to that of nodes', async () => {
    await using control = await cluster.startSettled()
    const names = control.rows('Load_Balancer', 'name').map(({ name }) => name)
    expect(names).toEqual([
      'cluster-sctp-loadbalancer',
      'cluster-sctp-session-loadbalancer',
      'cluster-tcp-loadbalancer',
      'cluster-tcp-session-loadbalancer',
      'cluster-udp-loadbalancer',
      'cluster-udp-session-loadbalancer',
    ])
    expect(balancersOf(control, 'ovn-default')).toEqual(names)
    expect(balancersOf(control, 'join')).toEqual([])
    const vpc = await cluster.client.get(vpcResource, { name: 'ovn-cluster' })
    expect(vpc?.status).toMatchObject({ tcpLoadBalancer: tcp, udpLoadBalancer: udp })

    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', enableLb: false }),
    )
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual([])
    await cluster.user.edit(subnetResource, 'blue', { enableLb: true })
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual(names)
    await cluster.user.edit(subnetResource, 'blue', { enableLb: false })
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('are there for every other VPC, on its own switches, as long as it is', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vpcResource, { ...vpcObject, metadata: { name: 'red' } })
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24' }),
    )
    await control.settle()
    const names = ['sctp-load', 'sctp-sess-load', 'tcp-load', 'tcp-sess-load', 'udp-load', 'udp-sess-load']
    expect(balancersOf(control, 'red1')).toEqual(names.map((name) => `vpc-red-${name}`))
    const red = await cluster.client.get(vpcResource, { name: 'red' })
    expect(red?.status?.tcpSessionLoadBalancer).toBe('vpc-red-tcp-sess-load')
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(control.rows('Load_Balancer', 'name')).toHaveLength(6)
    expect(control.problems()).toEqual([])
  })

  it('go, with their names, when nothing is to be balanced any more', async () => {
    await createWeb()
    {
      await using control = await cluster.startController()
      await control.settle()
    }
    await using control = await cluster.startController({ settings: { enableLb: false } })
    await control.settle()
    expect(control.rows('Load_Balancer', 'name')).toEqual([])
    expect(balancersOf(control, 'ovn-default')).toEqual([])
    const vpc = await cluster.client.get(vpcResource, { name: 'ovn-cluster' })
    expect(vpc?.status?.tcpLoadBalancer).toBeUndefined()
  })

  it('of upstream are taken over, what is in them is checked, and those of others stay', async () => {
    const external_ids = ['map', [['vendor', 'kube-ovn']]]
    await cluster.northbound.server.transact([
      {
        op: 'insert',
        table: 'Load_Balancer',
        row: {
          name: tcp,
          protocol: 'tcp',
          vips: [
            'map',
            [
              ['10.96.100.1:80', '10.16.0.9:8080'],
              ['10.96.200.1:80', '10.16.0.9:8080'],
            ],
          ],
          options: ['map', [['prefer_local_backend', 'false']]],
          external_ids,
        },
      },
      {
        op: 'insert',
        table: 'Load_Balancer',
        row: { name: 'theirs', vips: ['map', [['10.0.0.1:1', '10.0.0.2:2']]] },
      },
      {
        op: 'insert',
        table: 'Load_Balancer',
        row: {
          ...{ name: 'cluster-tcp-session-loadbalancer', protocol: 'tcp', external_ids },
          // An older version wrote it so.
          selection_fields: 'ip_src',
          options: ['map', [['prefer_local_backend', 'false']]],
        },
      },
    ])
    const before = await cluster.northbound.server.transact([
      { op: 'select', table: 'Load_Balancer', where: [['name', '==', tcp]], columns: ['_uuid'] },
    ])
    await createWeb()
    await using control = await cluster.startSettled()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' })
    expect(JSON.stringify(before)).toContain(control.named('Load_Balancer', tcp)?._uuid)
    const sticky = control.named('Load_Balancer', 'cluster-tcp-session-loadbalancer')
    expect([...(sticky?.selection_fields ?? [])].sort()).toEqual(['ip_src', 'ipv6_src'])
    expect(control.named('Load_Balancer', 'theirs')?.vips).toEqual({ '10.0.0.1:1': '10.0.0.2:2' })
  })
})

describe('a Service', () => {
  it('is served, follows its changes, and leaves nothing behind', async () => {
    await using control = await cluster.startSettled()
    await createWeb()
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' })
    const { annotations = {} } = (await cluster.client.get(services, ref))?.metadata ?? {}
    expect(annotations[serviceAnnotations.vpc.key]).toBe('ovn-cluster')

    await change('Service', { spec: { ports: [{ port: 81, protocol: 'TCP' }] } })
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.1:81': '10.16.0.2:8080,10.16.0.3:8080' })

    await change('Service', { spec: { sessionAffinity: 'ClientIP' } })
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({})
    expect(vipsOf(control, session)).toEqual({ '10.96.100.1:81': '10.16.0.2:8080,10.16.0.3:8080' })

    await cluster.client.remove(endpointSlices, sliceRef)
    await control.settle()
    expect(vipsOf(control, session)).toEqual({})
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.16.0.4'] }))
    await control.settle()
    expect(vipsOf(control, session)).toEqual({ '10.96.100.1:81': '10.16.0.4:8080' })

    await cluster.client.remove(services, ref)
    await control.settle()
    expect(vipsOf(control, session)).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('costs one transaction that touches one entry when one of its endpoints changes', async () => {
    await createWeb()
    for (let n = 2; n < 30; n++) {
      const name = `web-${n}`
      await cluster.client.create(services, service({ name }))
      await cluster.client.create(
        endpointSlices,
        endpointSlice({ name: `${name}-1`, service: name, endpoints: ['10.16.1.1'] }),
      )
    }
    await using control = await cluster.startSettled()
    const before = vipsOf(control, tcp) ?? {}
    await change('slice', endpointsOf('10.16.0.2', '10.16.0.4'))
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    const after = vipsOf(control, tcp) ?? {}
    expect(changedVips(before, after)).toEqual(['10.96.100.1:80'])
    expect(after['10.96.100.1:80']).toBe('10.16.0.2:8080,10.16.0.4:8080')
  })

  it('is served from slices with more than 1,000 endpoints', async () => {
    await createWeb()
    const address = (slice: number, n: number) => `10.16.${slice}.${n % 250}`
    for (let slice = 1; slice <= 5; slice++) {
      const endpoints = Array.from({ length: 250 }, (_, n) => address(slice, n))
      await cluster.client.create(endpointSlices, endpointSlice({ name: `big-${slice}`, endpoints }))
    }
    await using control = await cluster.startSettled()
    expect(vipsOf(control, tcp)?.['10.96.100.1:80']?.split(',')).toHaveLength(1252)
    await cluster.forgetCosts()
    await cluster.client.remove(endpointSlices, { namespace: 'default', name: 'big-1' })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(vipsOf(control, tcp)?.['10.96.100.1:80']?.split(',')).toHaveLength(1002)
  })

  it('with a time-out of its own has a load balancer that lives as long as it does', async () => {
    await using control = await cluster.startSettled()
    const own = `${session}-600`
    const clientIP = { timeoutSeconds: 600 }
    await createWeb({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP } })
    await control.settle()
    expect(control.named('Load_Balancer', own)).toMatchObject({
      protocol: 'tcp',
      selection_fields: ['ip_src', 'ipv6_src'],
      options: { affinity_timeout: '600' },
      vips: { '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' },
    })
    expect(balancersOf(control, 'ovn-default')).toContain(own)
    await change('Service', { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } } })
    await control.settle()
    expect(control.named('Load_Balancer', own)).toBeUndefined()
    expect(vipsOf(control, session)).toEqual({ '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' })
    expect(balancersOf(control, 'ovn-default')).toHaveLength(6)
    await change('Service', { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } } })
    await control.settle()
    expect(control.named('Load_Balancer', `${session}-65535`)?.options['affinity_timeout']).toBe('65535')
    expect(await cluster.user.told('web')).toEqual([
      'ServiceNotAsWritten: OVN does not remember clients for so long (field=spec.sessionAffinityConfig.clientIP.timeoutSeconds value=86400); write at most 65535, which is in effect',
    ])
  })

  it('of a VPC that is not there is left to kube-proxy, which an event says, until the VPC comes', async () => {
    await using control = await cluster.startSettled()
    await createWeb({ annotations: { [serviceAnnotations.vpc.key]: 'blue' } })
    await cluster.client.create(services, service({ name: 'other', clusterIP: '10.96.100.2' }))
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ name: 'other-1', service: 'other', endpoints: ['10.16.0.5'] }),
    )
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.2:80': '10.16.0.5:8080' })
    expect(await cluster.user.told('web')).toEqual([
      'ServiceNotAsWritten: There is no such VPC, or it is an external one (field=ovn.kubernetes.io/vpc value=blue); create the Vpc, or write another one: until then kube-proxy alone serves it',
    ])
    await cluster.client.create(vpcResource, { ...vpcObject, metadata: { name: 'blue' } })
    await control.settle()
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({
      '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080',
    })
    await cluster.client.remove(vpcResource, { name: 'blue' })
    await control.settle()
    expect(control.named('Load_Balancer', 'vpc-blue-tcp-load')).toBeUndefined()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.2:80': '10.16.0.5:8080' })
  })

  it('costs nothing at a restart, and what happened meanwhile is caught up with', async () => {
    await createWeb()
    await cluster.client.create(services, service({ name: 'gone' }))
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ name: 'gone-1', service: 'gone', endpoints: ['10.16.0.7'] }),
    )
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
    await cluster.client.remove(services, { namespace: 'default', name: 'gone' })
    await change('slice', endpointsOf('10.16.0.4'))
    await using control = await cluster.startController()
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.1:80': '10.16.0.4:8080' })
  })

  it('has its entries back when somebody takes or changes them, and others bring none in', async () => {
    await createWeb()
    await using control = await cluster.startSettled()
    const want = vipsOf(control, tcp)
    const { server } = cluster.northbound
    const where = [['name', '==', tcp]]
    const table = 'Load_Balancer'
    await server.transact([
      { op: 'mutate', table, where, mutations: [['vips', 'delete', ['set', ['10.96.100.1:80']]]] },
    ])
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual(want)
    await server.transact([
      {
        op: 'mutate',
        table,
        where,
        mutations: [['vips', 'insert', ['map', [['10.96.9.9:80', '10.16.0.1:1']]]]],
      },
    ])
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual(want)
    await server.transact([{ op: 'delete', table, where }])
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual(want)
    expect(balancersOf(control, 'ovn-default')).toHaveLength(6)
  })
})

describe('a Service of another VPC', () => {
  const [redTcp, blueTcp] = ['vpc-red-tcp-load', 'vpc-blue-tcp-load']
  const behind = (name: string, address: string) => ({
    addresses: [address],
    conditions: { ready: true },
    targetRef: { kind: 'Pod', namespace: 'default', name },
  })

  /** Two VPCs with a Subnet and a Pod each, and their addresses. */
  async function createVpcs(control: Controller): Promise<{ readonly red: string; readonly blue: string }> {
    for (const [at, name] of ['red', 'blue'].entries()) {
      await cluster.client.create(vpcResource, { ...vpcObject, metadata: { name } })
      await cluster.client.create(
        subnetResource,
        subnet({ name: `${name}1`, vpc: name, cidrBlock: `10.3${at}.0.0/24` }),
      )
      await control.settle()
      const annotations = { [podAnnotations().logicalSwitch.key]: `${name}1` }
      await cluster.user.createPod({ name: `pod-${name}`, annotations })
    }
    await control.settle()
    const [red = '', blue = ''] = await cluster.user.addressesOf('pod-red', 'pod-blue')
    return { red, blue }
  }

  async function writtenVpc(): Promise<string | undefined> {
    return (await cluster.client.get(services, ref))?.metadata.annotations?.[serviceAnnotations.vpc.key]
  }

  it('is in that of the Pods behind it, follows them in one transaction, and leaves nothing behind', async () => {
    await using control = await cluster.startSettled()
    const { red, blue } = await createVpcs(control)
    await createWeb()
    await change('slice', { endpoints: [behind('pod-red', red)] })
    await control.settle()
    expect(vipsOf(control, redTcp)).toEqual({ '10.96.100.1:80': `${red}:8080` })
    expect(vipsOf(control, tcp)).toEqual({})
    expect(await writtenVpc()).toBe('red')

    await cluster.forgetCosts()
    await change('slice', { endpoints: [behind('pod-red', red), behind('pod-blue', blue)] })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(vipsOf(control, redTcp)).toEqual({ '10.96.100.1:80': `${red}:8080,${blue}:8080` })

    await cluster.forgetCosts()
    await change('slice', { endpoints: [behind('pod-blue', blue)] })
    await control.settle()
    expect(await cluster.costs()).toMatchObject({ transactions: 1, writes: [expect.anything()] })
    expect(vipsOf(control, redTcp)).toEqual({})
    expect(vipsOf(control, blueTcp)).toEqual({ '10.96.100.1:80': `${blue}:8080` })
    expect(await writtenVpc()).toBe('blue')

    await cluster.client.remove(services, ref)
    await control.settle()
    expect(vipsOf(control, blueTcp)).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('knows Pods by their addresses, also when they come after it', async () => {
    await using control = await cluster.startSettled()
    await createWeb()
    await change('slice', endpointsOf('10.30.0.2'))
    await control.settle()
    expect(vipsOf(control, tcp)).toEqual({ '10.96.100.1:80': '10.30.0.2:8080' })
    const { red } = await createVpcs(control)
    expect(red).toBe('10.30.0.2')
    expect(vipsOf(control, redTcp)).toEqual({ '10.96.100.1:80': '10.30.0.2:8080' })
    expect(vipsOf(control, tcp)).toEqual({})
  })

  it('moves in one transaction when another VPC is written on it', async () => {
    await using control = await cluster.startSettled()
    await createVpcs(control)
    await createWeb({ annotations: { [serviceAnnotations.vpc.key]: 'red' } })
    await control.settle()
    const want = { '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' }
    expect(vipsOf(control, redTcp)).toEqual(want)

    await cluster.forgetCosts()
    await change('Service', { metadata: { annotations: { [serviceAnnotations.vpc.key]: 'blue' } } })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect([vipsOf(control, redTcp), vipsOf(control, blueTcp)]).toEqual([{}, want])

    const { logicalRouter, logicalSwitch } = serviceAnnotations
    await change('Service', { metadata: { annotations: { [logicalRouter.key]: 'red' } } })
    await control.settle()
    expect(vipsOf(control, blueTcp)).toEqual(want)
    expect(await cluster.user.told('web')).toEqual([
      'ServiceNotAsWritten: One of two annotations has no effect alone (field=ovn.kubernetes.io/logical_router value=red); write ovn.kubernetes.io/logical_switch as well, or remove it: until then the Pods behind the Service decide',
    ])
    await change('Service', { metadata: { annotations: { [logicalSwitch.key]: 'red1' } } })
    await control.settle()
    expect([vipsOf(control, redTcp), vipsOf(control, blueTcp)]).toEqual([want, {}])
    expect(await writtenVpc()).toBe('red')
    expect(await cluster.user.told('web')).toHaveLength(1)
    await change('Service', { metadata: { annotations: { [logicalSwitch.key]: 'blue1' } } })
    await control.settle()
    expect(vipsOf(control, redTcp)).toEqual(want)
    expect(await cluster.user.told('web')).toContain(
      'ServiceNotAsWritten: The VPC has no such Subnet (field=ovn.kubernetes.io/logical_switch value=blue1 vpc=red); write the Subnet of the Pods behind the Service, which is served in the VPC all the same',
    )
  })

  it('has a load balancer of its VPC for a time-out of its own', async () => {
    await using control = await cluster.startSettled()
    await createVpcs(control)
    const own = 'vpc-red-tcp-sess-load-600'
    const annotations = { [serviceAnnotations.vpc.key]: 'red' }
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 600 } }
    await createWeb({ annotations, sessionAffinity: 'ClientIP', sessionAffinityConfig })
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.96.100.1:80': '10.16.0.2:8080,10.16.0.3:8080' })
    expect(balancersOf(control, 'red1')).toContain(own)
    expect(balancersOf(control, 'blue1')).toHaveLength(6)
    expect(balancersOf(control, 'ovn-default')).toHaveLength(6)
    await cluster.client.remove(services, ref)
    await control.settle()
    expect(control.named('Load_Balancer', own)).toBeUndefined()
  })

  it('costs nothing at a restart, catches up with a move, and has its entries back', async () => {
    let addresses = { red: '', blue: '' }
    {
      await using control = await cluster.startSettled()
      addresses = await createVpcs(control)
      await createWeb()
      await change('slice', { endpoints: [behind('pod-red', addresses.red)] })
      await control.settle()
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await change('slice', { endpoints: [behind('pod-blue', addresses.blue)] })
    await using control = await cluster.startController()
    await control.settle()
    const want = { '10.96.100.1:80': `${addresses.blue}:8080` }
    expect([vipsOf(control, redTcp), vipsOf(control, blueTcp)]).toEqual([{}, want])
    await cluster.northbound.nbctl('lb-add', 'theirs', '10.0.0.1:1', '10.0.0.2:2')
    await cluster.northbound.nbctl('clear', 'Load_Balancer', blueTcp, 'vips')
    await control.settle()
    expect(vipsOf(control, blueTcp)).toEqual(want)
    expect(control.named('Load_Balancer', 'theirs')?.vips).toEqual({ '10.0.0.1:1': '10.0.0.2:2' })
  })
})
