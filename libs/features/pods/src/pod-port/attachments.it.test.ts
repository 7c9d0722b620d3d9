import { networkAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { events, pods, statefulSets } from '@kube-ovn/kube-api/core'
import { ipResource, networkAttachmentResource, subnetResource, vipResource } from '@kube-ovn/kube-api'
import { pod, statefulSet, subnet, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller, ControllerOptions } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const networks = networkAnnotations.further.key
const net1 = podAnnotations('net1.default.ovn')
const mv = podAnnotations('mv.default')
const first = podAnnotations()

async function createAttachment(name: string, type: string): Promise<void> {
  await cluster.client.create(networkAttachmentResource, {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type }) },
  } as Parameters<typeof cluster.client.create>[1])
}

/** A network of OVN with its subnet, and one of macvlan. */
async function startWithNetworks(options: ControllerOptions = {}): Promise<Controller> {
  const control = await cluster.startController(options)
  await createAttachment('net1', 'kube-ovn')
  await createAttachment('mv', 'macvlan')
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'att1', cidrBlock: '10.17.0.0/16,fd00:10:17::/112', provider: 'net1.default.ovn' }),
  )
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'mvs', cidrBlock: '172.17.0.0/16', provider: 'mv.default' }),
  )
  await control.settle()
  await cluster.forgetCosts()
  return control
}

async function records(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(ipResource)
  return items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('node-'))
}

describe('a further network', () => {
  it('gives a NIC the addresses of a Vip that the pod names for it, in a network of OVN and of another CNI', async () => {
    await using control = await startWithNetworks()
    const lent = [
      vip({ name: 'door', subnet: 'att1', v4ip: '10.17.0.200', macAddress: '00:00:5e:00:53:c8' }),
      vip({ name: 'gate', subnet: 'mvs', v4ip: '172.17.0.200' }),
    ]
    for (const one of lent) await cluster.client.create(vipResource, one)
    await control.settle()
    const annotations = {
      [networks]: 'default/net1,default/mv',
      [net1.borrowedVip.key]: 'door',
      [mv.borrowedVip.key]: 'gate',
    }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    const told = await cluster.user.annotationsOf({ name: 'm' })
    expect(told).toMatchObject({
      [first.ipAddress.key]: '10.16.0.2,fd00:10:16::2',
      [net1.ipAddress.key]: expect.stringMatching(/^10\.17\.0\.200,/),
      [net1.macAddress.key]: '00:00:5e:00:53:c8',
      [mv.ipAddress.key]: '172.17.0.200',
    })
    // What another CNI makes has a MAC address of its own.
    expect(told[mv.macAddress.key] ?? '').toBe('')
    await cluster.client.create(pods, pod({ name: 'other', node: 'n1', annotations }))
    await control.settle()
    expect((await cluster.user.told('other')).join('\n')).toContain(net1.borrowedVip.key)
    await cluster.removePod('m')
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'other' })).toMatchObject({
      [mv.ipAddress.key]: '172.17.0.200',
    })
  })

  it('gives a pod a second port, with a record and annotations of its own, in the same transaction', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'default/net1' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 1,
      writes: [
        ...['create ips', 'create ips', 'patch pods'],
        ...['patch subnets/status', 'patch subnets/status'],
      ],
    })
    const told = await cluster.user.annotationsOf({ name: 'm' })
    expect(told).toMatchObject({
      [first.ipAddress.key]: '10.16.0.2,fd00:10:16::2',
      [net1.ipAddress.key]: '10.17.0.2,fd00:10:17::2',
      [net1.logicalSwitch.key]: 'att1',
      [net1.logicalRouter.key]: 'ovn-cluster',
      [net1.podNicType.key]: 'veth-pair',
      [net1.allocated.key]: 'true',
      [net1.routed.key]: 'true',
    })
    expect(told[net1.macAddress.key]).not.toBe(told[first.macAddress.key])
    const port = 'm.default.net1.default.ovn'
    expect(control.named('Logical_Switch_Port', port)).toMatchObject({
      addresses: [`${told[net1.macAddress.key]} 10.17.0.2 fd00:10:17::2`],
      external_ids: { vendor: 'kube-ovn', ls: 'att1', pod: 'default/m' },
    })
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['m.default', port])
    expect(control.portsOf('Port_Group', 'att1.n1')).toEqual([port])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['m.default'])
    expect(await records()).toEqual(['m.default', port])

    await cluster.removePod('m')
    await control.settle()
    expect(await records()).toEqual([])
    expect(control.world.ipam.lease(port)).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    [
      'by annotation',
      {
        [networks]: 'default/net1',
        [net1.ipAddress.key]: '10.17.0.40',
        [net1.macAddress.key]: '02:00:00:00:17:AB',
      },
    ],
    [
      'by the request for the network',
      { [networks]: '[{"name":"net1","ips":["10.17.0.40/16"],"mac":"02:00:00:00:17:AB"}]' },
    ],
    [
      'by annotation for the NIC',
      {
        [networks]: 'net1@eth9',
        'net1.default.kubernetes.io/ip_address.eth9': '10.17.0.40',
        'net1.default.kubernetes.io/mac_address.eth9': '02:00:00:00:17:AB',
        [net1.ipAddress.key]: '10.17.0.41',
      },
    ],
  ])('has the addresses that were asked for %s', async (_name, annotations) => {
    await using control = await startWithNetworks()
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'm' })).toMatchObject({
      [net1.ipAddress.key]: '10.17.0.40,fd00:10:17::2',
      [net1.macAddress.key]: '02:00:00:00:17:AB',
    })
  })

  it('twice, has a NIC for each interface', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'net1@a,net1@b' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    expect(await records()).toEqual([
      'm.default',
      'm.default.net1.default.ovn.a',
      'm.default.net1.default.ovn.b',
    ])
    expect(await cluster.user.annotationsOf({ name: 'm' })).toMatchObject({
      'net1.default.ovn.a.kubernetes.io/ip_address': '10.17.0.2,fd00:10:17::2',
      'net1.default.ovn.b.kubernetes.io/ip_address': '10.17.0.3,fd00:10:17::3',
    })
  })

  it('of another CNI twice, has the addresses of one NIC for both, where the agent looks for them', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'mv@a,mv@b' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    expect(await records()).toEqual(['m.default', 'm.default.mv.default'])
    const told = await cluster.user.annotationsOf({ name: 'm' })
    expect(Object.keys(told).filter((key) => key.includes('mv.default.'))).toEqual([
      ...[mv.allocated.key, mv.cidr.key, mv.gateway.key, mv.ipAddress.key],
    ])
  })

  it('twice without names is refused, until it is asked for once', async () => {
    await using control = await startWithNetworks()
    await cluster.client.create(
      pods,
      pod({ name: 'm', node: 'n1', annotations: { [networks]: 'net1,net1' } }),
    )
    await control.settle()
    expect(await cluster.user.told('m')).toEqual([expect.stringContaining(`field=${networks}`)])
    expect(await records()).toEqual([])
    await cluster.user.annotate({ name: 'm' }, { [networks]: 'net1' })
    await control.settle()
    expect(await records()).toEqual(['m.default', 'm.default.net1.default.ovn'])
  })

  it('that is unplugged takes its port, record and annotations with it', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'default/net1' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    await cluster.client.patch(pods, { namespace: 'default', name: 'm' }, 'application/merge-patch+json', {
      metadata: { annotations: { [networks]: null } },
    })
    await control.settle()
    expect(await records()).toEqual(['m.default'])
    expect(
      Object.keys(await cluster.user.annotationsOf({ name: 'm' })).filter((key) => key.startsWith('net1')),
    ).toEqual([])
    expect(control.named('Logical_Switch_Port', 'm.default.net1.default.ovn')).toBeUndefined()
    expect(control.world.ipam.lease('m.default.net1.default.ovn')).toBeUndefined()
  })

  it('of another CNI gives addresses and nothing else', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'default/mv' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    const told = await cluster.user.annotationsOf({ name: 'm' })
    expect(Object.fromEntries(Object.entries(told).filter(([key]) => key.startsWith('mv.')))).toEqual({
      [mv.allocated.key]: 'true',
      [mv.ipAddress.key]: '172.17.0.2',
      [mv.cidr.key]: '172.17.0.0/16',
      [mv.gateway.key]: '172.17.0.1',
    })
    expect(control.named('Logical_Switch', 'mvs')).toBeUndefined()
    expect(control.rows('Logical_Switch_Port', 'name').filter(({ name }) => name.includes('mv'))).toEqual([])
    const record = await cluster.client.get(ipResource, { name: 'm.default.mv.default' })
    expect(record?.spec).toMatchObject({ ipAddress: '172.17.0.2', macAddress: '', subnet: 'mvs' })
    const conditions = (await cluster.client.get(subnetResource, { name: 'mvs' }))?.status?.conditions
    expect(conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort()).toEqual([
      'Ready True SetNonOvnSubnetSuccess',
      'Validated True SetNonOvnSubnetSuccess',
    ])
    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  it('of another CNI stays without addresses where a user wrote that it has what it needs', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'default/mv', [mv.allocated.key]: 'true' }
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'm' })).toMatchObject(annotations)
    expect(await records()).toEqual(['m.default'])
  })

  it('stays with the member of a StatefulSet that is away', async () => {
    await using control = await startWithNetworks()
    const annotations = { [networks]: 'default/net1,default/mv' }
    const set = await cluster.client.create(statefulSets, statefulSet({ annotations }))
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set.metadata.uid ?? '' },
    ]
    const member = pod({ name: 'db-0', node: 'n1', annotations, ownerReferences })
    await cluster.client.create(pods, member)
    await control.settle()
    const before = await cluster.user.annotationsOf({ name: 'db-0' })
    await cluster.removePod('db-0')
    await control.settle()
    expect(await records()).toHaveLength(3)
    await cluster.client.create(pods, member)
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'db-0' })).toEqual(before)
    expect(control.problems()).toEqual([])
  })

  it.each<[string, string, string, readonly string[]]>([
    ['that does not exist', 'default/nowhere', 'network=default/nowhere', []],
    // Its first NIC is known, and has what it needs.
    ['without a subnet', 'default/lonely', 'lonely.default.ovn', ['m.default']],
    ['that can not be read', '[{"name":', networks, []],
  ])('%s is told, and the pod waits until it is there', async (_name, asked, about, recorded) => {
    await using control = await startWithNetworks()
    await createAttachment('lonely', 'kube-ovn')
    // A watch of Pods may be ahead of that of networks.
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations: { [networks]: asked } }))
    await cluster.client.create(pods, pod({ name: 'plain', node: 'n1' }))
    await control.settle()
    const { items } = await cluster.client.list(events)
    expect(items.map(({ involvedObject, message }) => `${involvedObject.name} ${message}`)).toEqual([
      expect.stringMatching(new RegExp(`^m .*${about.replaceAll('.', '\\.')}`)),
    ])
    expect(await cluster.user.annotationsOf({ name: 'plain' })).toMatchObject({
      [first.allocated.key]: 'true',
    })
    expect(await records()).toEqual([...recorded, 'plain.default'])
    await createAttachment('nowhere', 'kube-ovn')
    for (const name of ['nowhere', 'lonely']) {
      const cidrBlock = name === 'nowhere' ? '10.18.0.0/24' : '10.19.0.0/24'
      const provider = `${name}.default.ovn`
      await cluster.client.create(subnetResource, subnet({ name, cidrBlock, provider }))
    }
    if (asked.startsWith('[')) return
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'm' })).toMatchObject({ [first.allocated.key]: 'true' })
  })
})

describe('a pod without a NIC in the cluster’s network', () => {
  it.each([
    {
      name: 'since another CNI makes the first one',
      options: { settings: { nonPrimaryCni: true } },
      annotations: { [networks]: 'net1,mv,unserved' },
      want: ['m.default.mv.default', 'm.default.net1.default.ovn'],
    },
    {
      name: 'since it asks for another one in its place',
      options: {},
      annotations: { 'v1.multus-cni.io/default-network': 'default/net1', [networks]: 'mv,unserved' },
      want: ['m.default.mv.default', 'm.default.net1.default.ovn'],
    },
  ])('$name, has its others, and gives their addresses back', async ({ options, annotations, want }) => {
    await using control = await startWithNetworks(options)
    await createAttachment('unserved', 'macvlan')
    await cluster.client.create(pods, pod({ name: 'm', node: 'n1', annotations }))
    if (options.settings !== undefined) await cluster.client.create(pods, pod({ name: 'plain', node: 'n1' }))
    await control.settle()
    expect(await records()).toEqual(want)
    expect(control.portsOf('Logical_Switch', 'att1')).toContain('m.default.net1.default.ovn')
    expect(
      Object.keys(await cluster.user.annotationsOf({ name: 'm' })).filter((key) => key.startsWith('ovn.')),
    ).toEqual([])
    await cluster.removePod('m')
    await control.settle()
    expect(await records()).toEqual([])
    expect([...control.world.ipam.leases('att1'), ...control.world.ipam.leases('mvs')]).toEqual([])
    expect(control.problems()).toEqual([])
  })
})

it('a member that is away keeps its addresses while its subnet is not in effect, and has them again then', async () => {
  const control = await startWithNetworks()
  const annotations = { [networks]: 'mv' }
  const set = await cluster.client.create(statefulSets, statefulSet({ annotations }))
  const { name, uid = '' } = set.metadata
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }]
  const member = pod({ name: 'db-0', node: 'n1', annotations, ownerReferences })
  await cluster.client.create(pods, member)
  await cluster.user.createPod({ name: 'runs', annotations })
  await control.settle()
  const addressOf = async (pod: string) => (await cluster.user.annotationsOf({ name: pod }))[mv.ipAddress.key]
  const before = [await addressOf('db-0'), await addressOf('runs')]
  await cluster.removePod('db-0')
  await cluster.user.edit(subnetResource, 'mvs', { gateway: '10.99.0.1' })
  await control.settle()
  await control[Symbol.asyncDispose]()
  await using again = await cluster.startController()
  await again.settle()
  expect(await records()).toContain('db-0.default.mv.default')
  await cluster.user.createPod({ name: 'new', annotations })
  await cluster.user.edit(subnetResource, 'mvs', { gateway: '172.17.0.1' })
  await again.settle()
  await cluster.client.create(pods, member)
  await again.settle()
  expect([await addressOf('db-0'), await addressOf('runs')]).toEqual(before)
  expect(await addressOf('new')).toBe('172.17.0.4')
})

it('a pod whose second NIC is refused has what its first one was given recorded and counted, and no port', async () => {
  await using control = await startWithNetworks()
  const taken = { [networks]: 'net1', [net1.ipAddress.key]: '10.17.0.9,fd00:10:17::9' }
  await cluster.user.createPod({ name: 'has', annotations: taken })
  await control.settle()
  await cluster.user.createPod({ name: 'waits', annotations: taken })
  await control.settle()
  const told = await cluster.user.told('waits')
  expect(told).toEqual([expect.stringContaining('pod/default/has')])
  expect(await records()).toEqual(['has.default', 'has.default.net1.default.ovn', 'waits.default'])
  const status = async () => (await cluster.client.get(subnetResource, { name: 'ovn-default' }))?.status
  expect(await status()).toMatchObject({ v4usingIPs: 2, v6usingIPs: 2 })
  expect(auditAddresses(control.world)).toEqual([])
  expect(control.named('Logical_Switch_Port', 'waits.default')).toBeUndefined()
  expect(await cluster.user.annotationsOf({ name: 'waits' })).toEqual(taken)
  const held = control.world.ipam.lease('waits.default')

  await control[Symbol.asyncDispose]()
  await cluster.forgetCosts()
  await using again = await cluster.startController()
  await again.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  expect(again.world.ipam.lease('waits.default')).toMatchObject({
    v4: held?.v4,
    v6: held?.v6,
    mac: held?.mac,
  })
  expect(await cluster.user.told('waits')).toEqual(told)

  await cluster.removePod('waits')
  await again.settle()
  expect(await records()).toEqual(['has.default', 'has.default.net1.default.ovn'])
  expect(again.world.ipam.lease('waits.default')).toBeUndefined()
  expect(await status()).toMatchObject({ v4usingIPs: 1, v6usingIPs: 1 })
})

describe('a subnet that is given to another network', () => {
  it('stays with its own while somebody has addresses of it, names who, and goes then', async () => {
    await using control = await startWithNetworks()
    await cluster.user.createPod({ name: 'm', annotations: { [networks]: 'mv,net1' } })
    await control.settle()
    const before = await cluster.user.annotationsOf({ name: 'm' })
    const port = control.named('Logical_Switch_Port', 'm.default.net1.default.ovn')
    for (const name of ['mvs', 'att1'])
      await cluster.user.edit(subnetResource, name, { provider: 'new.default' })
    await control.settle()
    await cluster.user.annotate({ name: 'm' }, { touched: 'yes' })
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'm' })).toEqual({ ...before, touched: 'yes' })
    expect(await records()).toEqual(['m.default', 'm.default.mv.default', 'm.default.net1.default.ovn'])
    expect(control.named('Logical_Switch_Port', 'm.default.net1.default.ovn')).toEqual(port)
    expect(control.portsOf('Logical_Switch', 'att1')).toContain('m.default.net1.default.ovn')
    for (const name of ['mvs', 'att1'])
      expect(await cluster.user.told(name)).toEqual([expect.stringContaining('delete pod/default/m first')])

    await cluster.removePod('m')
    await control.settle()
    expect(control.named('Logical_Switch', 'att1')).toBeUndefined()
    expect(control.world.networks.get('mvs')?.provider).toBe('new.default')
    expect(await records()).toEqual([])
  })

  it.each(['new.default', 'ovn'])(
    'of another CNI stays with its own although it was given to %s while no controller ran',
    async (provider) => {
      await using control = await startWithNetworks()
      await cluster.user.createPod({ name: 'm', annotations: { [networks]: 'mv' } })
      await control.settle()
      const before = await cluster.user.annotationsOf({ name: 'm' })
      const recorded = await records()
      await control[Symbol.asyncDispose]()
      await cluster.user.edit(subnetResource, 'mvs', { provider })
      await using again = await cluster.startController()
      await again.settle()
      await cluster.user.annotate({ name: 'm' }, { touched: 'yes' })
      await again.settle()
      expect(await cluster.user.annotationsOf({ name: 'm' })).toEqual({ ...before, touched: 'yes' })
      expect(await records()).toEqual(recorded)
      expect(await cluster.user.told('mvs')).toEqual([
        expect.stringMatching(/put it back to mv\.default, or delete pod\/default\/m first/),
      ])
      await cluster.removePod('m')
      await again.settle()
      expect(again.world.networks.get('mvs')?.provider).toBe(provider)
      expect(again.named('Logical_Switch', 'mvs') === undefined).toBe(provider !== 'ovn')
    },
  )

  it('keeps its switch although that was done while no controller ran', async () => {
    const control = await startWithNetworks()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.27.0.0/24', namespaces: ['default'] }),
    )
    await control.settle()
    await cluster.user.createPod({ name: 'm' })
    await control.settle()
    await control[Symbol.asyncDispose]()
    await cluster.user.edit(subnetResource, 'blue', { provider: 'new.default' })
    await using again = await cluster.startController()
    await again.settle()
    expect(again.portsOf('Logical_Switch', 'blue')).toEqual(['blue-ovn-cluster', 'm.default'])
    expect(await cluster.user.told('blue')).toEqual([expect.stringContaining('put it back to ovn')])
  })
})
