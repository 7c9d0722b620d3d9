import {
  apiVersion,
  providerNetworkResource,
  subnetResource,
  vlanResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { endpointSlices, nodes, services } from '@kube-ovn/kube-api/core'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import {
  endpointSlice,
  providerNetwork,
  service,
  subnet,
  vlan,
  vpc,
  type ServiceFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { OvsdbClient, type Cache } from 'ovsdb-client'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const perService = { flags: { loadBalancerLayout: 'per-service' } }
const nothing = { transactions: 0, writes: [] }
const group = 'kube-ovn/services/ovn-cluster'

beforeEach(async () => {
  await cluster.user.createNodes('n1')
  const metadata = { annotations: { 'ovn.kubernetes.io/chassis': 'c-n1' } }
  await cluster.client.patch(nodes, { name: 'n1' }, 'application/merge-patch+json', { metadata })
})

const sticky = (timeoutSeconds: number): ServiceFields => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})

/** Of every sort that there is. */
const all: readonly ServiceFields[] = [
  { name: 'plain', clusterIP: '10.96.100.1' },
  { name: 'sticky', clusterIP: '10.96.100.2', ...sticky(10_800) },
  { name: 'short', clusterIP: '10.96.100.3', ...sticky(60) },
  { name: 'near', clusterIP: '10.96.100.4', internalTrafficPolicy: 'Local' },
  { name: 'udp', clusterIP: '10.96.100.5', ports: [{ port: 80, protocol: 'UDP' }] },
  {
    name: 'elsewhere',
    clusterIP: '10.96.100.6',
    annotations: { 'ovn.kubernetes.io/vpc': 'red' },
  },
]

async function createAll(): Promise<void> {
  await cluster.client.create(vpcResource, { apiVersion, kind: 'Vpc', metadata: { name: 'red' }, spec: {} })
  await cluster.client.create(subnetResource, subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24' }))
  for (const fields of all) await createOne(fields)
}

async function createOne(fields: ServiceFields): Promise<void> {
  const { name = '', ports: [{ protocol = 'TCP' } = {}] = [] } = fields
  const endpoint = { addresses: ['10.16.0.2'], conditions: { ready: true }, nodeName: 'n1' }
  await cluster.client.create(services, service(fields))
  await cluster.client.create(
    endpointSlices,
    endpointSlice({
      name: `${name}-1`,
      service: name,
      endpoints: [endpoint],
      ports: [{ name: '', port: 8080, protocol }],
    }),
  )
}

type Rows = Pick<Cache<OvnNorthbound>, 'scan'>

/** Entries by the switches that lead them somewhere, as `switch protocol address:port`; of each those that are there twice. */
function ledOn(rows: Rows): { readonly led: ReadonlySet<string>; readonly twice: readonly string[] } {
  const [groups, balancers] = [
    new Map([...rows.scan('Load_Balancer_Group')].map((row) => [row._uuid, row])),
    new Map([...rows.scan('Load_Balancer')].map((row) => [row._uuid, row])),
  ]
  const led = new Set<string>()
  const twice: string[] = []
  for (const { name, load_balancer, load_balancer_group } of rows.scan('Logical_Switch')) {
    const uuids = [
      ...load_balancer,
      ...load_balancer_group.flatMap((uuid) => groups.get(uuid)?.load_balancer ?? []),
    ]
    for (const uuid of uuids) {
      const { vips = {}, protocol } = balancers.get(uuid) ?? {}
      for (const vip of Object.keys(vips)) {
        const entry = `${name} ${protocol} ${vip}`
        if (led.has(entry)) twice.push(entry)
        led.add(entry)
      }
    }
  }
  return { led, twice }
}

function balancers(control: Controller): readonly string[] {
  return control
    .rows('Load_Balancer', 'name')
    .map(({ name }) => name)
    .filter((name) => name.includes('/'))
}

/** What is seen of entries that were led somewhere, transaction by transaction. */
async function watchEntries(): Promise<
  AsyncDisposable & { readonly lost: readonly string[]; readonly twice: readonly string[] }
> {
  const client = new OvsdbClient<OvnNorthbound>({
    endpoints: [cluster.northbound.address],
    schema: ovnNorthboundSchema,
    tables: {
      Logical_Switch: { columns: ['name', 'load_balancer', 'load_balancer_group'] },
      Load_Balancer: { columns: ['vips', 'protocol'] },
      Load_Balancer_Group: { columns: ['load_balancer'] },
    },
  })
  await client.connect()
  const wanted = ledOn(client.cache).led
  const [lost, twice]: [string[], string[]] = [[], []]
  client.onChange(() => {
    const seen = ledOn(client.cache)
    lost.push(...[...wanted].filter((entry) => !seen.led.has(entry)))
    twice.push(...seen.twice)
  })
  return { lost, twice, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}

describe('load balancers of each Service for itself', () => {
  it('are there with it, change with it, and go with it', async () => {
    await using control = await cluster.startController(perService)
    await control.settle()
    await cluster.forgetCosts()
    await createOne({ name: 'web', clusterIP: '10.96.100.9' })
    await control.settle()
    expect(control.named('Load_Balancer', 'default/web/tcp')).toMatchObject({
      protocol: 'tcp',
      options: {},
      vips: { '10.96.100.9:80': '10.16.0.2:8080' },
    })
    const uuid = control.named('Load_Balancer', 'default/web/tcp')?._uuid
    expect(control.named('Load_Balancer_Group', group)?.load_balancer).toContain(uuid)
    const groupUuid = control.named('Load_Balancer_Group', group)?._uuid
    expect(control.named('Logical_Switch', 'ovn-default')?.load_balancer_group).toEqual([groupUuid])
    expect(control.named('Logical_Switch', 'join')?.load_balancer_group).toEqual([])

    await cluster.forgetCosts()
    const ref = { namespace: 'default', name: 'web' }
    await cluster.client.patch(services, ref, 'application/merge-patch+json', { spec: { ...sticky(60) } })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
    expect(control.named('Load_Balancer', 'default/web/tcp')).toMatchObject({
      selection_fields: ['ip_src', 'ipv6_src'],
      options: { affinity_timeout: '60' },
    })
    await cluster.client.remove(services, ref)
    await control.settle()
    expect(balancers(control).filter((name) => name.startsWith('default/web'))).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('cost nothing at a restart, are back when somebody takes them, and those of others stay', async () => {
    await createAll()
    {
      await using control = await cluster.startController(perService)
      await control.settle()
    }
    await cluster.forgetCosts()
    await using control = await cluster.startController(perService)
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    const before = control.rows('Load_Balancer', 'name', 'vips', 'options')
    const { northbound } = cluster
    await northbound.nbctl('lb-add', 'theirs', '10.0.0.1:1', '10.0.0.2:2')
    await northbound.nbctl('lb-del', 'default/plain/tcp')
    await northbound.nbctl('set', 'Load_Balancer', 'default/udp/udp', 'vips:"10.9.9.9:9"="10.16.0.1:1"')
    await northbound.nbctl('clear', 'Logical_Switch', 'ovn-default', 'load_balancer_group')
    await northbound.nbctl('clear', 'Load_Balancer_Group', group, 'load_balancer')
    await control.settle()
    const after = control.rows('Load_Balancer', 'name', 'vips', 'options')
    expect(after.filter(({ name }) => name !== 'theirs')).toEqual(before)
    expect(control.named('Load_Balancer', 'theirs')?.vips).toEqual({ '10.0.0.1:1': '10.0.0.2:2' })
    expect(control.named('Logical_Switch', 'ovn-default')?.load_balancer_group).toHaveLength(1)
    expect(control.named('Load_Balancer_Group', group)?.load_balancer.length).toBeGreaterThan(4)
  })

  it('are on the switches of the VPC whose Pods may ask, and on no others', async () => {
    const { client, user } = cluster
    await createAll()
    await client.create(vpcResource, vpc({ name: 'bare' }))
    await client.create(subnetResource, subnet({ name: 'plain', cidrBlock: '10.31.0.0/24', enableLb: false }))
    await client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
    await client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
    await client.create(
      subnetResource,
      subnet({ name: 'yard', cidrBlock: '172.20.0.0/24', vlan: 'v10', enableLb: false }),
    )
    await createOne({
      ...{ name: 'nobodys', clusterIP: '10.96.100.9' },
      annotations: { 'ovn.kubernetes.io/vpc': 'bare' },
    })
    await using control = await cluster.startController(perService)
    await control.settle()
    const [ofDefault, ofRed] = [[group], ['kube-ovn/services/red']]
    const attached = { join: [], 'ovn-default': ofDefault, red1: ofRed, plain: [], yard: [] }
    expect(places(control)).toEqual(attached)
    expect(control.named('Load_Balancer_Group', 'kube-ovn/services/bare')?.load_balancer).toHaveLength(1)
    expect(attachedRouters(control)).toEqual([])
    for (const name of ['red1', 'plain'])
      await user.edit(subnetResource, name, { enableLb: name === 'plain' })
    await client.create(subnetResource, subnet({ name: 'bare1', vpc: 'bare', cidrBlock: '10.32.0.0/24' }))
    await control.settle()
    const bare1 = ['kube-ovn/services/bare']
    expect(places(control)).toEqual({ ...attached, red1: [], plain: ofDefault, bare1 })
    expect(control.problems()).toEqual([])
  })

  it('take over from those that Services share, and give back to them, with nothing lost in between', async () => {
    await createAll()
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(balancers(control)).toEqual([])
    }
    const shared = await contents()
    {
      await using watch = await watchEntries()
      await using control = await cluster.startController(perService)
      await control.settle()
      expect(balancers(control)).toEqual([
        'default/elsewhere/tcp',
        'default/kubernetes/tcp',
        'default/near/tcp/nodes-v4',
        'default/plain/tcp',
        'default/short/tcp',
        'default/sticky/tcp',
        'default/udp/udp',
      ])
      expect(control.rows('Load_Balancer', 'name')).toHaveLength(12 + balancers(control).length)
      expect(watch.lost).toEqual([])
      expect(watch.twice).toEqual([])
      expect(control.problems()).toEqual([])
    }
    {
      await using watch = await watchEntries()
      await using control = await cluster.startController()
      await control.settle()
      expect(watch.lost).toEqual([])
      expect(watch.twice).toEqual([])
      expect(control.rows('Load_Balancer_Group', 'name')).toEqual([])
    }
    expect(await contents()).toEqual(shared)
  })

  it('take over from many at once, without anybody being asked', async () => {
    const many = Array.from({ length: 80 }, (_, index) => ({
      name: `many-${index}`,
      clusterIP: `10.96.101.${index + 1}`,
    }))
    for (const fields of many) await createOne(fields)
    {
      await using control = await cluster.startController()
      await control.settle()
    }
    await using watch = await watchEntries()
    await using control = await cluster.startController(perService)
    await control.settle()
    expect(Object.keys(control.named('Load_Balancer', 'cluster-tcp-loadbalancer')?.vips ?? {})).toEqual([])
    expect(balancers(control).filter((name) => name.includes('many-'))).toHaveLength(many.length)
    expect(watch.lost).toEqual([])
  })
})

/** The groups on each switch. */
function places(control: Controller): Readonly<Record<string, readonly string[]>> {
  const nameOf = (uuid: string) => control.world.northbound.get('Load_Balancer_Group', uuid)?.name ?? uuid
  const rows = control.rows('Logical_Switch', 'name', 'load_balancer_group')
  return Object.fromEntries(rows.map((row) => [row.name, row.load_balancer_group.map(nameOf)]))
}

/** The routers at which somebody is balanced. */
function attachedRouters(control: Controller): readonly string[] {
  return control
    .rows('Logical_Router', 'name', 'load_balancer', 'load_balancer_group')
    .filter((row) => row.load_balancer.length + row.load_balancer_group.length > 0)
    .map(({ name }) => name)
}

/** Load balancers by their names, with what is in them, and the switches that have them. */
async function contents(): Promise<string> {
  const { northbound } = cluster
  const columns = '--columns=name,protocol,vips,options,selection_fields,ip_port_mappings'
  const listed = await northbound.nbctl('--format=csv', columns, '--no-headings', 'list', 'Load_Balancer')
  const switches = await northbound.nbctl(
    '--bare',
    '--columns=name,load_balancer_group',
    'list',
    'Logical_Switch',
  )
  return [...listed.split('\n').sort(), switches].join('\n')
}
