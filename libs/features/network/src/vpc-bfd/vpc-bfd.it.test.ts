import { ovnEipResource, subnetResource, vpcResource, type VpcSpec } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { ovnEip, subnet, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const merge = 'application/merge-patch+json'

beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  await label('n1', { 'ovn.kubernetes.io/external-gw': 'true' })
  await label('n2', { 'ovn.kubernetes.io/external-gw': 'true' })
  const external = {
    name: 'external',
    cidrBlock: '10.5.204.0/24,fd00:5::/120',
    gateway: '10.5.204.254,fd00:5::fe',
  }
  await cluster.client.create(subnetResource, subnet(external))
})

async function label(name: string, labels: Readonly<Record<string, string | null>>): Promise<void> {
  const annotations = { 'ovn.kubernetes.io/chassis': `chassis-${name}` }
  await cluster.client.patch(nodes, { name }, merge, { metadata: { labels, annotations } })
}

async function make(spec: VpcSpec): Promise<void> {
  await cluster.client.create(vpcResource, vpc({ name: 'red', ...spec }))
  const red1 = { name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24,fd00:30::/120' }
  await cluster.client.create(subnetResource, subnet(red1))
}

async function status() {
  return (await cluster.client.get(vpcResource, { name: 'red' }))?.status
}

const supervised = (cidr: string, nextHopIP: string) => ({ cidr, nextHopIP, bfdId: 'yes' })
const hops = [supervised('0.0.0.0/0', '10.5.204.7'), supervised('0.0.0.0/0', '10.5.204.8')]

/** Sessions as `port neighbour tx rx multiplier`. */
function sessions(control: Controller): readonly string[] {
  return control
    .rows('BFD', 'logical_port', 'dst_ip', 'min_tx', 'min_rx', 'detect_mult')
    .map(({ logical_port: port, dst_ip: peer, min_tx: tx, min_rx: rx, detect_mult: multiplier }) =>
      [port, peer, tx, rx, multiplier].join(' '),
    )
    .sort()
}

/** Routes of the VPC as `policy prefix next-hop`, and the neighbour of the session by which it counts. */
function routes(control: Controller): readonly string[] {
  const uuids = new Set(control.named('Logical_Router', 'red')?.static_routes)
  const neighbours = new Map(control.rows('BFD', '_uuid', 'dst_ip').map((row) => [row._uuid, row.dst_ip]))
  return control
    .rows('Logical_Router_Static_Route', '_uuid', 'policy', 'ip_prefix', 'nexthop', 'bfd')
    .filter(({ _uuid }) => uuids.has(_uuid))
    .map(({ policy, ip_prefix: prefix, nexthop, bfd }) =>
      [policy, prefix, nexthop, ...(bfd === undefined ? [] : [`by ${neighbours.get(bfd) ?? '?'}`])].join(' '),
    )
    .sort()
}

const two = ['red-external 10.5.204.7 100 100 3', 'red-external 10.5.204.8 100 100 3']
const twoRoutes = [
  'dst-ip 0.0.0.0/0 10.5.204.7 by 10.5.204.7',
  'dst-ip 0.0.0.0/0 10.5.204.8 by 10.5.204.8',
  'src-ip fd00:30::/120 fd00:30::1',
]

describe('BFD of a VPC', () => {
  it('supervises the next hops that its routes name, and no more when they do not', async () => {
    await using control = await cluster.startSettled()
    await make({ enableExternal: true, staticRoutes: hops })
    await control.settle()
    expect(sessions(control)).toEqual(two)
    expect(routes(control)).toEqual(twoRoutes)
    expect(await status()).toMatchObject({ enableBfd: true })
    expect((await status())?.conditions ?? []).toEqual([])
    await cluster.user.edit(vpcResource, 'red', { staticRoutes: [{ ...hops[0], bfdId: '' }] })
    await control.settle()
    expect(sessions(control)).toEqual([])
    expect(routes(control)).toEqual(['dst-ip 0.0.0.0/0 10.5.204.7', 'src-ip fd00:30::/120 fd00:30::1'])
    expect(await status()).toMatchObject({ enableBfd: false })
    expect(control.problems()).toEqual([])
  })

  it('costs nothing in a restart, is put right when somebody changes it, and leaves those of others alone', async () => {
    const { northbound } = cluster
    {
      await using control = await cluster.startSettled()
      await make({ enableExternal: true, staticRoutes: hops })
      await control.settle()
    }
    await northbound.nbctl('--id=@b', 'create', 'BFD', 'logical_port=theirs', 'dst_ip=9.9.9.9')
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    const [uuid = ''] = control
      .rows('BFD', '_uuid', 'dst_ip')
      .flatMap((row) => (row.dst_ip === '10.5.204.7' ? row._uuid : []))
    await northbound.nbctl('destroy', 'BFD', uuid)
    await control.settle()
    expect(sessions(control)).toEqual([...two, 'theirs 9.9.9.9   '])
    expect(routes(control)).toEqual(twoRoutes)
    await cluster.client.remove(vpcResource, { name: 'red' })
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await control.settle()
    expect(sessions(control)).toEqual(['theirs 9.9.9.9   '])
    expect(control.problems()).toEqual([])
  })

  it('takes over sessions that upstream wrote, with its timers', async () => {
    const { northbound } = cluster
    await using control = await cluster.startSettled()
    await northbound.nbctl(
      ...[
        'create',
        'BFD',
        'logical_port=red-external',
        'dst_ip=10.5.204.7',
        'min_tx=1000',
        'min_rx=1000',
        'detect_mult=5',
      ],
    )
    await make({ enableExternal: true, staticRoutes: hops })
    await control.settle()
    expect(sessions(control)).toEqual(two)
    expect(routes(control)).toEqual(twoRoutes)
    expect(control.problems()).toEqual([])
  })

  it('shares what comes from a subnet among nodes that have an address outside, and edits no specification', async () => {
    await using control = await cluster.startSettled()
    for (const name of ['n1', 'n2'])
      await cluster.client.create(ovnEipResource, ovnEip({ name, externalSubnet: 'external', type: 'lsp' }))
    await control.settle()
    const eips = await Promise.all(
      ['n1', 'n2'].map(async (name) => {
        await cluster.client.patch(
          ovnEipResource,
          { name },
          merge,
          { status: { ready: true } },
          { subresource: 'status' },
        )
        return (await cluster.client.get(ovnEipResource, { name }))?.status
      }),
    )
    await make({ enableExternal: true, enableBfd: true })
    await cluster.user.edit(subnetResource, 'red1', { enableEcmp: true })
    await control.settle()
    const gateway = 'red-external 10.5.204.254 100 100 3'
    const ways = eips.flatMap((eip) => [eip?.v4Ip ?? '', eip?.v6Ip ?? ''])
    expect(sessions(control)).toEqual([gateway, ...ways.map((ip) => `red-external ${ip} 100 100 3`)].sort())
    expect(routes(control)).toEqual(
      [
        'dst-ip 0.0.0.0/0 10.30.0.1',
        'dst-ip ::/0 fd00:30::1',
        ...ways.map((ip) => `src-ip ${ip.includes(':') ? 'fd00:30::/120' : '10.30.0.0/24'} ${ip} by ${ip}`),
      ].sort(),
    )
    expect((await cluster.client.get(vpcResource, { name: 'red' }))?.spec?.staticRoutes).toBeUndefined()
    await cluster.user.edit(vpcResource, 'red', { enableBfd: false })
    await control.settle()
    expect(sessions(control)).toEqual([])
    expect(routes(control)).toEqual(['src-ip 10.30.0.0/24 10.30.0.1', 'src-ip fd00:30::/120 fd00:30::1'])
    expect(control.problems()).toEqual([])
  })

  it('says that nothing is shared while no address outside is ready, until one is', async () => {
    await using control = await cluster.startSettled()
    const problem = async () =>
      (await status())?.conditions?.find(({ type }) => type === 'Validated')?.message
    await make({ enableExternal: true, enableBfd: true })
    await control.settle()
    expect(await problem()).toBeUndefined()
    await cluster.user.edit(subnetResource, 'red1', { enableEcmp: true })
    const eip = ovnEip({ name: 'n1', externalSubnet: 'external', type: 'lsp' })
    await cluster.client.create(ovnEipResource, eip)
    await control.settle()
    expect(await problem()).toMatch(
      /^spec.enableBfd "true": create OvnEips of type lsp in Subnet external, .* or switch enableEcmp of Subnet red1 off: .* no such OvnEip is ready/,
    )
    expect(await cluster.user.told('red')).toEqual([expect.stringMatching(/^VpcInvalid: spec.enableBfd/)])
    expect(routes(control)).toEqual(['src-ip 10.30.0.0/24 10.30.0.1', 'src-ip fd00:30::/120 fd00:30::1'])
    await cluster.client.patch(
      ovnEipResource,
      { name: 'n1' },
      merge,
      { status: { ready: true } },
      {
        subresource: 'status',
      },
    )
    await control.settle()
    expect(await problem()).toBeUndefined()
    expect(sessions(control)).toHaveLength(3)
    expect(control.problems()).toEqual([])
  })

  it('says what it can not supervise, and routes all the same', async () => {
    await using control = await cluster.startSettled()
    await make({
      enableBfd: true,
      staticRoutes: [supervised('10.99.0.0/16', '10.30.0.9')],
      bfdPort: { enabled: true, ip: 'x' },
    })
    await control.settle()
    expect(await cluster.user.told('red')).toEqual([
      expect.stringMatching(
        /spec.bfdPort.ip "x": .*; spec.staticRoutes\[0\].bfdId "10.30.0.9": choose a next hop in an external subnet.*; spec.enableBfd "true": set enableExternal/,
      ),
    ])
    expect(sessions(control)).toEqual([])
    expect(routes(control)).toContain('dst-ip 10.99.0.0/16 10.30.0.9')
    expect(control.problems()).toEqual([])
  })
})

describe('the BFD port of a VPC', () => {
  it('is on nodes that are selected, and goes with the wish or the VPC', async () => {
    await using control = await cluster.startSettled()
    await label('n1', { gw: 'yes' })
    const selecting = {
      enabled: true,
      ip: '10.255.255.255,fd00:ff::ff',
      nodeSelector: { matchLabels: { gw: 'yes' } },
    }
    const hosts = () =>
      control
        .rows('HA_Chassis', 'chassis_name', 'priority')
        .map(({ chassis_name: chassis, priority }) => `${chassis} ${priority}`)
        .sort()
    await make({ bfdPort: selecting })
    await control.settle()
    const group = control.named('HA_Chassis_Group', 'bfd@red')
    expect(group?.external_ids).toMatchObject({ lrp: 'bfd@red' })
    expect(control.named('Logical_Router_Port', 'bfd@red')).toMatchObject({
      networks: ['10.255.255.255', 'fd00:ff::ff'],
      options: { 'bfd-only': 'true' },
      ha_chassis_group: group?._uuid,
    })
    expect(hosts()).toEqual(['chassis-n1 100'])
    expect((await status())?.bfdPort).toEqual({
      name: 'bfd@red',
      ip: '10.255.255.255,fd00:ff::ff',
      nodes: ['n1'],
    })
    await label('n2', { gw: 'yes' })
    await control.settle()
    expect(hosts()).toEqual(['chassis-n1 100', 'chassis-n2 99'])
    await label('n1', { gw: null })
    await label('n2', { gw: null })
    await control.settle()
    expect(hosts()).toEqual([])
    expect(control.named('HA_Chassis_Group', 'bfd@red')?._uuid).toBe(group?._uuid)
    await cluster.forgetCosts()
    await label('n1', { other: 'yes' })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(0)
    await cluster.user.edit(vpcResource, 'red', {
      bfdPort: { enabled: true, ip: '10.255.255.255', nodeSelector: null },
    })
    await control.settle()
    expect(hosts()).toEqual(['chassis-n1 100', 'chassis-n2 99'])
    await cluster.client.remove(vpcResource, { name: 'red' })
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await control.settle()
    expect(control.named('HA_Chassis_Group', 'bfd@red')).toBeUndefined()
    expect(hosts()).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('is on the same nodes, in the same order, in whichever order they came', async () => {
    const hosts = (control: Controller) =>
      control
        .rows('HA_Chassis', 'chassis_name', 'priority')
        .map(({ chassis_name: chassis, priority }) => `${chassis} ${priority}`)
        .sort()
    const wanted = ['chassis-n1 100', 'chassis-n2 99']
    await cluster.client.remove(nodes, { name: 'n1' })
    {
      await using control = await cluster.startSettled()
      await make({ bfdPort: port })
      await control.settle()
      expect(hosts(control)).toEqual(['chassis-n2 100'])
      await cluster.user.createNodes('n1')
      await label('n1', {})
      await control.settle()
      expect(hosts(control)).toEqual(wanted)
      expect((await status())?.bfdPort?.nodes).toEqual(['n1', 'n2'])
      await cluster.forgetCosts()
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(hosts(control)).toEqual(wanted)
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  const port = { enabled: true, ip: '10.255.255.255' }

  it.each([
    ['is switched off', () => cluster.user.edit(vpcResource, 'red', { bfdPort: { enabled: false } })],
    ['is no more asked for', () => cluster.user.edit(vpcResource, 'red', { bfdPort: null })],
    ['has a VPC that goes', () => removeVpc()],
  ])('goes with its nodes when it %s', async (_name, end) => {
    await using control = await cluster.startSettled()
    await make({ bfdPort: port })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'bfd@red')).toBeDefined()
    await end()
    await control.settle()
    expect(left(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('is collected when its VPC went while nobody looked', async () => {
    {
      await using control = await cluster.startSettled()
      await make({ bfdPort: port })
      await control.settle()
    }
    await cluster.client.patch(vpcResource, { name: 'red' }, merge, { metadata: { finalizers: null } })
    await removeVpc()
    await using control = await cluster.startController()
    await control.settle()
    expect(left(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })

  async function removeVpc(): Promise<void> {
    await cluster.client.remove(vpcResource, { name: 'red' })
    await cluster.client.remove(subnetResource, { name: 'red1' })
  }

  /** Names of what the database has of the port. */
  function left(control: Controller): readonly unknown[] {
    return [
      ...control.rows('Logical_Router_Port', 'name').filter(({ name }) => name === 'bfd@red'),
      ...control.rows('HA_Chassis_Group', 'name'),
      ...control.rows('HA_Chassis', 'chassis_name'),
    ]
  }
})

it('makes a port that stock OVN sends nothing by: it has no peer, and the option changes nothing', async () => {
  await using northbound = await startNorthbound({ northd: true })
  await northbound.nbctl(
    ...[
      '--wait=sb',
      'lr-add',
      'red',
      '--',
      'lrp-add',
      'red',
      'bfd@red',
      '00:00:5e:00:53:05',
      '10.255.255.255/32',
    ],
    ...['--', '--id=@b', 'create', 'BFD', 'logical_port="bfd@red"', 'dst_ip=10.30.0.9'],
  )
  const flows = () => northbound.sbctl('lflow-list', 'red')
  const [before, port] = [
    await flows(),
    await northbound.sbctl(
      '--bare',
      '--columns=type,options',
      'find',
      'Port_Binding',
      'logical_port="bfd@red"',
    ),
  ]
  expect(port).not.toContain('peer')
  await northbound.nbctl('--wait=sb', 'set', 'Logical_Router_Port', 'bfd@red', 'options:bfd-only=true')
  expect(await flows()).toBe(before)
})
