import { apiVersion, vpcResource } from '@kube-ovn/kube-api'
import { endpointSlices, nodes, services } from '@kube-ovn/kube-api/core'
import { endpointSlice, node, service, type ServiceFields } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ northd: true })
const flags = { loadBalancerLayout: 'per-service', ovnLbNodePorts: true }
const mergePatch = 'application/merge-patch+json'
const ref = { namespace: 'default', name: 'web' }
const [v4, v6] = ['default/web/tcp/nodes-v4', 'default/web/tcp/nodes-v6']

/** Has so many nodes, each with an address of each family, and with its chassis told. */
async function createNodes(count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    if ((await cluster.client.get(nodes, { name: `n${number}` })) !== undefined) continue
    const addresses = [`172.18.0.${number}`, `fd00:172:18::${number}`]
    const annotations = { 'ovn.kubernetes.io/chassis': `c-${number}` }
    await cluster.client.create(nodes, node({ name: `n${number}`, addresses, annotations }))
    await cluster.northbound.sbctl('chassis-add', `c-${number}`, 'geneve', `172.18.0.${number}`)
  }
}

async function createDoor(fields: ServiceFields = {}): Promise<void> {
  await cluster.client.create(
    services,
    service({
      clusterIPs: ['10.96.100.1', 'fd00:10:96::1001'],
      clusterIP: '10.96.100.1',
      ipFamilyPolicy: 'RequireDualStack',
      type: 'NodePort',
      ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }],
      ...fields,
    }),
  )
  await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.16.0.2', '10.16.0.3'] }))
  const endpoints = ['fd00:10:16::2', 'fd00:10:16::3']
  await cluster.client.create(
    endpointSlices,
    endpointSlice({ name: 'web-v6', addressType: 'IPv6', endpoints }),
  )
}

function variables(control: Controller): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const rows = control.rows('Chassis_Template_Var', 'chassis', 'variables')
  return Object.fromEntries(rows.map((row) => [row.chassis, row.variables]))
}

async function patchSlice(patch: object): Promise<void> {
  await cluster.client.patch(endpointSlices, { namespace: 'default', name: 'web-1' }, mergePatch, patch)
}

const vipsOf = (control: Controller, name: string) => control.named('Load_Balancer', name)?.vips

/** How many flows of the Southbound are about a text. */
async function flowsWith(text: string): Promise<number> {
  const matches = await cluster.northbound.sbctl('--bare', '--columns=match', 'list', 'Logical_Flow')
  return matches.split('\n').filter((match) => match.includes(text)).length
}

describe('node ports that OVN serves', () => {
  it('are one entry for each family, at the address of each node, of which ovn-northd makes as many flows for many', async () => {
    await createNodes(1)
    await createDoor()
    await using control = await cluster.startSettled({ flags })
    expect(vipsOf(control, v4)).toEqual({ '^node.v4:30080': '10.16.0.2:8080,10.16.0.3:8080' })
    expect(vipsOf(control, v6)).toEqual({ '^node.v6:30080': '[fd00:10:16::2]:8080,[fd00:10:16::3]:8080' })
    await cluster.northbound.nbctl('--wait=sb', 'sync')
    const before = [await flowsWith('^node.v4'), await flowsWith('^node.v6')]
    expect(Math.min(...before)).toBeGreaterThan(0)
    await createNodes(12)
    await control.settle()
    expect([vipsOf(control, v4), vipsOf(control, v6)].map((vips) => Object.keys(vips ?? {}).length)).toEqual([
      1, 1,
    ])
    await cluster.northbound.nbctl('--wait=sb', 'sync')
    expect([await flowsWith('^node.v4'), await flowsWith('^node.v6')]).toEqual(before)
    const told = await cluster.northbound.sbctl(
      '--bare',
      '--columns=variables',
      'list',
      'Chassis_Template_Var',
    )
    expect(told.split(/\n+/).toSorted()).toEqual(
      Array.from(
        { length: 12 },
        (_, at) => `node.v4=172.18.0.${at + 1} node.v6=fd00:172:18::${at + 1}`,
      ).sort(),
    )
    expect(control.problems()).toEqual([])
  })

  it('follow the backends and the addresses of nodes, and go when nobody wants them', async () => {
    await createNodes(2)
    await createDoor()
    await using control = await cluster.startSettled({ flags })
    await patchSlice({ endpoints: [{ addresses: ['10.16.0.2'] }] })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(vipsOf(control, v4)).toEqual({ '^node.v4:30080': '10.16.0.2:8080' })

    await cluster.user.renumberNode('n2', '172.18.0.99')
    await control.settle()
    expect(variables(control)['c-2']).toEqual({ 'node.v4': '172.18.0.99' })

    await cluster.client.patch(services, ref, mergePatch, { spec: { internalTrafficPolicy: 'Local' } })
    await control.settle()
    // The policy is about the cluster's addresses.
    expect(vipsOf(control, v4)?.['^node.v4:30080']).toBe('10.16.0.2:8080')
    await cluster.client.patch(services, ref, mergePatch, {
      spec: { type: 'ClusterIP', internalTrafficPolicy: 'Cluster' },
    })
    await control.settle()
    expect([vipsOf(control, v4), vipsOf(control, v6), variables(control)]).toEqual([undefined, undefined, {}])
    expect(control.problems()).toEqual([])
  })

  it('lead to backends that hints say are near', async () => {
    await createNodes(2)
    await createDoor()
    const near = (address: string, node: string) => ({
      ...{ addresses: [address], nodeName: node, hints: { forNodes: [{ name: node }] } },
    })
    await patchSlice({ endpoints: [near('10.16.0.2', 'n1'), near('10.16.0.3', 'n2')] })
    await using control = await cluster.startSettled({ flags })
    const name = 'lb.default.web.node_v4.30080.tcp'
    expect(vipsOf(control, v4)?.['^node.v4:30080']).toBe(`^${name}`)
    expect([variables(control)['c-1']?.[name], variables(control)['c-2']?.[name]]).toEqual([
      '10.16.0.2:8080',
      '10.16.0.3:8080',
    ])
  })

  it('cost nothing at a restart, and are not there by default, in the other layout, and in other VPCs', async () => {
    await createNodes(2)
    await createDoor()
    {
      await using control = await cluster.startController({ flags })
      await control.settle()
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController({ flags })
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    for (const others of [{ ovnLbNodePorts: false }, { loadBalancerLayout: 'shared' }]) {
      await using control = await cluster.startController({ flags: { ...flags, ...others } })
      await control.settle()
      const vips = control.rows('Load_Balancer', 'vips').flatMap((row) => Object.keys(row.vips))
      expect(vips.filter((vip) => vip.includes('30080'))).toEqual([])
      expect(variables(control)).toEqual({})
    }
    const red = { apiVersion, kind: 'Vpc', metadata: { name: 'red' }, spec: {} }
    await cluster.client.create(vpcResource, red)
    const annotations = { 'ovn.kubernetes.io/vpc': 'red' }
    await cluster.client.patch(services, ref, mergePatch, { metadata: { annotations } })
    await using control = await cluster.startController({ flags })
    await control.settle()
    expect(vipsOf(control, 'default/web/tcp')).toBeDefined()
    expect(vipsOf(control, v4)).toBeUndefined()
  })
})
