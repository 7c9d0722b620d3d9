import { podAnnotations } from '@kube-ovn/annotations'
import { namespaces, pods } from '@kube-ovn/kube-api/core'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { ip, namespace, pod, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2'))

const keys = podAnnotations()

async function setPhase(name: string, phase: string): Promise<void> {
  const ref = { namespace: 'default', name }
  await cluster.client.patch(
    pods,
    ref,
    'application/merge-patch+json',
    { status: { phase } },
    { subresource: 'status' },
  )
}

describe('a plain pod', () => {
  it('costs one transaction and three writes, and gives everything back when it goes', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 1,
      writes: ['create ips', 'patch pods', 'patch subnets/status'],
    })
    const annotations = await cluster.user.annotationsOf({ name: 'web' })
    const mac = annotations[keys.macAddress.key] ?? ''
    expect(annotations).toEqual({
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/routed': 'true',
      'ovn.kubernetes.io/ip_address': '10.16.0.2,fd00:10:16::2',
      'ovn.kubernetes.io/mac_address': mac,
      'ovn.kubernetes.io/cidr': '10.16.0.0/16,fd00:10:16::/112',
      'ovn.kubernetes.io/gateway': '10.16.0.1,fd00:10:16::1',
      'ovn.kubernetes.io/logical_switch': 'ovn-default',
      'ovn.kubernetes.io/logical_router': 'ovn-cluster',
      'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
    })
    expect(control.named('Logical_Switch_Port', 'web.default')).toMatchObject({
      addresses: [`${mac} 10.16.0.2 fd00:10:16::2`],
      port_security: [],
      external_ids: { vendor: 'kube-ovn', ls: 'ovn-default', pod: 'default/web' },
    })
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.default'])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['web.default'])
    const record = await cluster.client.get(ipResource, { name: 'web.default' })
    expect(record?.spec).toMatchObject({
      ipAddress: '10.16.0.2,fd00:10:16::2',
      macAddress: mac,
      nodeName: 'n1',
    })
    const { status } = (await cluster.client.get(subnetResource, { name: 'ovn-default' })) ?? {}
    expect(status).toMatchObject({ v4usingIPs: 1, v6usingIPs: 1, v4usingIPrange: '10.16.0.2' })

    await cluster.forgetCosts()
    await cluster.removePod('web')
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 1,
      writes: ['delete ips', 'patch ips', 'patch subnets/status'],
    })
    expect(control.named('Logical_Switch_Port', 'web.default')).toBeUndefined()
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual([])
    expect(await cluster.client.get(ipResource, { name: 'web.default' })).toBeUndefined()
    expect(control.world.ipam.lease('web.default')).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('has no port before it is scheduled, nor in the network of its node', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'unscheduled' }))
    await cluster.client.create(pods, pod({ name: 'host', node: 'n1', hostNetwork: true }))
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  it('has its port on the node where a pod of the same name comes back', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    await cluster.removePod('web')
    await cluster.client.create(pods, pod({ name: 'web', node: 'n2' }))
    await control.settle()
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual([])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual([])
    expect(control.portsOf('Port_Group', 'node.n2')).toEqual(['web.default'])
    expect(control.portsOf('Port_Group', 'ovn.default.n2')).toEqual(['web.default'])
    const record = await cluster.client.get(ipResource, { name: 'web.default' })
    expect(record?.spec?.nodeName).toBe('n2')
    expect(record?.metadata.labels?.['ovn.kubernetes.io/node-name']).toBe('n2')
  })

  it('gives its address back when it has finished', async () => {
    await using control = await cluster.startSettled()
    const job = pod({ name: 'job', node: 'n1' })
    await cluster.client.create(pods, { ...job, spec: { ...job.spec, restartPolicy: 'Never' } })
    await control.settle()
    await setPhase('job', 'Succeeded')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'job.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'job.default' })).toBeUndefined()
  })
})

it('gives a burst of 50 pods their ports in at most 0.2 transactions a pod', async () => {
  await using control = await cluster.startSettled()
  const names = Array.from({ length: 50 }, (_, n) => `p${n}`)
  await Promise.all(names.map((name) => cluster.client.create(pods, pod({ name, node: 'n1' }))))
  await control.settle()
  const { transactions, writes } = await cluster.costs()
  expect(transactions).toBeLessThanOrEqual(10)
  expect(writes.filter((write) => write === 'create ips')).toHaveLength(50)
  expect(writes.filter((write) => write === 'patch pods')).toHaveLength(50)
  expect(new Set(await Promise.all(names.map((name) => cluster.user.addressOf(name)))).size).toBe(50)
})

describe('what somebody else does', () => {
  it('is put right: a port, its addresses, a membership, a record and annotations', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    const before = control.rows('Logical_Switch_Port', 'name', 'addresses', 'external_ids')
    const annotations = await cluster.user.annotationsOf({ name: 'web' })
    const { northbound } = cluster

    await northbound.nbctl('lsp-del', 'web.default')
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('web.default')
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.default'])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['web.default'])
    await northbound.nbctl('lsp-set-addresses', 'web.default', 'unknown')
    await northbound.nbctl('clear', 'Port_Group', 'node.n1', 'ports')
    await control.settle()
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.default'])
    await northbound.nbctl('clear', 'Logical_Switch_Port', 'web.default', 'external_ids')
    await control.settle()
    expect(control.rows('Logical_Switch_Port', 'name', 'addresses', 'external_ids')).toEqual(before)

    await cluster.client.remove(ipResource, { name: 'web.default' })
    await control.settle()
    expect((await cluster.client.get(ipResource, { name: 'web.default' }))?.spec?.ipAddress).toBe(
      annotations[keys.ipAddress.key],
    )
    await cluster.user.annotate(
      { name: 'web' },
      Object.fromEntries(Object.keys(annotations).map((key) => [key, null])),
    )
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'web' })).toEqual(annotations)
    await cluster.user.annotate(
      { name: 'web' },
      {
        [keys.ipAddress.key]: 'nonsense',
        [keys.macAddress.key]: '',
        [keys.allocated.key]: 'no',
      },
    )
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'web' })).toEqual(annotations)
    expect(control.problems()).toEqual([])
  })

  it('is left alone where it is his own', async () => {
    const { northbound } = cluster
    await northbound.nbctl(
      ...[
        'ls-add',
        'foreign',
        '--',
        'lsp-add',
        'foreign',
        'foreign-port',
        '--',
        'acl-add',
        'foreign',
        'to-lport',
        '1',
        'ip',
        'drop',
      ],
      ...['--', 'pg-add', 'foreign_group', 'foreign-port', '--', 'lr-add', 'foreign-router'],
    )
    const tables = ['Logical_Switch', 'Logical_Switch_Port', 'ACL', 'Port_Group', 'Logical_Router']
    const list = () => Promise.all(tables.map((table) => northbound.nbctl('--format=csv', 'list', table)))
    const before = await list()
    const foreignLines = (texts: readonly string[]) =>
      texts.flatMap((text) =>
        text.split('\n').filter((line) => line.includes('foreign') || line.includes(',drop,')),
      )
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    await cluster.removePod('web')
    await control.settle()
    const kept = foreignLines(before)
    expect(kept).toHaveLength(5)
    expect(foreignLines(await list())).toEqual(expect.arrayContaining([...kept]))
  })
})

describe('a request by annotation', () => {
  it('is honoured: address, MAC address, subnet, family', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:10:17::/120' }),
    )
    await control.settle()
    await cluster.client.create(
      pods,
      pod({
        name: 'fixed',
        node: 'n1',
        annotations: {
          [keys.ipAddress.key]: '10.17.0.77,fd00:10:17::77',
          [keys.macAddress.key]: '00:00:5E:00:53:01',
          [keys.logicalSwitch.key]: 'blue',
        },
      }),
    )
    await cluster.client.create(
      pods,
      pod({ name: 'v6', node: 'n1', annotations: { [keys.ipFamily.key]: 'ipv6' } }),
    )
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'fixed.default')?.addresses).toEqual([
      '00:00:5E:00:53:01 10.17.0.77 fd00:10:17::77',
    ])
    expect((await cluster.user.annotationsOf({ name: 'fixed' }))[keys.macAddress.key]).toBe(
      '00:00:5E:00:53:01',
    )
    const record = await cluster.client.get(ipResource, { name: 'fixed.default' })
    expect(record?.spec?.macAddress).toBe('00:00:5E:00:53:01')
    expect(control.world.ipam.lease('fixed.default')?.mac).toBe('00:00:5e:00:53:01')
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('fixed.default')
    expect(await cluster.user.annotationsOf({ name: 'fixed' })).toMatchObject({
      [keys.gateway.key]: '10.17.0.1,fd00:10:17::1',
    })
    expect(await cluster.user.addressOf('v6')).toBe('fd00:10:16::2')
    const { status } = (await cluster.client.get(subnetResource, { name: 'ovn-default' })) ?? {}
    expect(status).toMatchObject({ v4usingIPs: 0, v6usingIPs: 1 })
  })

  it.each([
    [{ [keys.ipAddress.key]: '10.99.0.5' }, 'AddressOutOfRange', '10.99.0.5'],
    [{ [keys.ipAddress.key]: '10.16.0.1' }, 'AddressConflict', '10.16.0.1'],
    [{ [keys.ipAddress.key]: '10.16.0.300' }, 'ovn.kubernetes.io/ip_address', '10.16.0.300'],
    [{ [keys.macAddress.key]: 'zz:00:00:00:00:01' }, 'ovn.kubernetes.io/mac_address', 'zz:00:00:00:00:01'],
    [{ [keys.logicalSwitch.key]: 'nowhere' }, 'the subnet does not exist', 'nowhere'],
    [{ [keys.logicalSwitch.key]: 'join' }, 'choose another subnet', 'join'],
    [{ [keys.ipFamily.key]: 'IPv4' }, 'ovn.kubernetes.io/ip_family', 'IPv4'],
    [{ [keys.allocated.key]: 'true', [keys.ipAddress.key]: '10.99.0.5' }, 'AddressOutOfRange', '10.99.0.5'],
  ])('that can not be met is told once, and met when it is corrected: %j', async (asked, about, value) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'odd', node: 'n1', annotations: asked }))
    await cluster.client.create(pods, pod({ name: 'plain', node: 'n1' }))
    await control.settle()
    const told = await cluster.user.told('odd')
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(about)
    expect(told[0]).toContain(value)
    expect(control.named('Logical_Switch_Port', 'odd.default')).toBeUndefined()
    expect(await cluster.user.annotationsOf({ name: 'plain' })).toMatchObject({
      [keys.allocated.key]: 'true',
    })
    await cluster.user.annotate(
      { name: 'odd' },
      Object.fromEntries(Object.keys(asked).map((key) => [key, null])),
    )
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'odd' })).toMatchObject({ [keys.allocated.key]: 'true' })
  })

  it('changes how the port of a running pod behaves', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    const own = control.named('Logical_Switch_Port', 'web.default')?.addresses[0] ?? ''
    await cluster.user.annotate(
      { name: 'web' },
      {
        [keys.portSecurity.key]: 'true',
        [keys.portVips.key]: '10.16.0.200,fd00:10:16::c8',
        [keys.layer2Forward.key]: 'true',
      },
    )
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web.default')).toMatchObject({
      addresses: [own, 'unknown'],
      port_security: [`${own} 10.16.0.200 fd00:10:16::c8`],
      external_ids: { vips: '10.16.0.200,fd00:10:16::c8', 'attach-vips': 'true' },
    })
    await cluster.user.annotate(
      { name: 'web' },
      {
        [keys.portSecurity.key]: null,
        [keys.portVips.key]: null,
        [keys.layer2Forward.key]: null,
      },
    )
    await control.settle()
    const { addresses, port_security, external_ids } =
      control.named('Logical_Switch_Port', 'web.default') ?? {}
    expect([addresses, port_security]).toEqual([[own], []])
    expect(external_ids).not.toHaveProperty('vips')
  })

  it('for a gateway of its own leads the pod there, until it is taken back or the pod goes', async () => {
    await using control = await cluster.startSettled()
    const policies = () =>
      control
        .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops')
        .filter(({ priority }) => priority === 29250)
        .map(({ match, nexthops }) => `${match} ${nexthops.join()}`)
    const annotations = { [keys.northGateway.key]: '100.64.0.99' }
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1', annotations }))
    await cluster.client.create(pods, pod({ name: 'other', node: 'n1', annotations }))
    await control.settle()
    expect(policies()).toEqual(['ip4.src == 10.16.0.2 100.64.0.99', 'ip4.src == 10.16.0.3 100.64.0.99'])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual([])
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['other.default', 'web.default'])
    await cluster.user.annotate({ name: 'web' }, { [keys.northGateway.key]: null })
    await control.settle()
    expect(policies()).toHaveLength(1)
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['web.default'])
    await control[Symbol.asyncDispose]()
    await cluster.removePod('other')
    await using again = await cluster.startController()
    await again.settle()
    expect(
      [...again.rows('Logical_Router_Policy', 'priority')].filter(({ priority }) => priority === 29250),
    ).toEqual([])
  })

  it.each([
    [keys.portVips.key, '10.16.0.300'],
    [keys.northGateway.key, 'nowhere'],
  ])('%s that can not be read is told, and has no effect', async (key, value) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'odd', node: 'n1', annotations: { [key]: value } }))
    await control.settle()
    expect(await cluster.user.told('odd')).toEqual([expect.stringContaining(`field=${key} value=${value}`)])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['odd.default'])
    expect(await cluster.user.annotationsOf({ name: 'odd' })).toMatchObject({ [keys.allocated.key]: 'true' })
  })

  it('for an address that is taken waits for it', async () => {
    await using control = await cluster.startSettled()
    const annotations = {
      [keys.ipAddress.key]: '10.16.0.9,fd00:10:16::9',
      [keys.macAddress.key]: '00:00:5e:00:53:09',
    }
    await cluster.client.create(pods, pod({ name: 'first', node: 'n1', annotations }))
    await control.settle()
    // It claims to be allocated, as a copied manifest may.
    const copied = { ...annotations, [keys.allocated.key]: 'true' }
    await cluster.client.create(pods, pod({ name: 'second', node: 'n1', annotations: copied }))
    await control.settle()
    const [told = ''] = await cluster.user.told('second')
    expect(told).toContain('AddressConflict')
    expect(told).toContain('default/first')
    await cluster.removePod('first')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'second.default')?.addresses).toEqual([
      '00:00:5e:00:53:09 10.16.0.9 fd00:10:16::9',
    ])
  })
})

describe('pods that wait start by themselves', () => {
  const small = subnet({ name: 'small', cidrBlock: '10.18.0.0/30' })
  const inSmall = { [keys.logicalSwitch.key]: 'small' }

  it('when their subnet comes', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'early', node: 'n1', annotations: inSmall }))
    await control.settle()
    await cluster.client.create(subnetResource, small)
    await control.settle()
    expect(await cluster.user.addressOf('early')).toBe('10.18.0.2')
  })

  it('when an address becomes free', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, small)
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'one', node: 'n1', annotations: inSmall }))
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'two', node: 'n1', annotations: inSmall }))
    await control.settle()
    expect((await cluster.user.told('two'))[0]).toContain('NoAvailableAddress')
    await cluster.removePod('one')
    await control.settle()
    expect(await cluster.user.addressOf('two')).toBe('10.18.0.2')
  })

  it('when their namespace is bound to a subnet with room', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'red' } }))
    await cluster.client.create(subnetResource, { ...small, spec: { ...small.spec, namespaces: ['shop'] } })
    await cluster.client.create(subnetResource, subnet({ name: 'large', cidrBlock: '10.19.0.0/24' }))
    await control.settle()
    for (const name of ['one', 'two', 'three']) {
      await cluster.client.create(pods, pod({ name, namespace: 'shop', node: 'n1' }))
      await control.settle()
    }
    const address = async (name: string): Promise<string | undefined> =>
      (await cluster.client.get(pods, { namespace: 'shop', name }))?.metadata.annotations?.[
        keys.ipAddress.key
      ]
    expect(await Promise.all(['one', 'two', 'three'].map(address))).toEqual([
      '10.18.0.2',
      undefined,
      undefined,
    ])
    const spec = { namespaceSelectors: [{ matchLabels: { team: 'blue' } }] }
    await cluster.client.patch(subnetResource, { name: 'large' }, 'application/merge-patch+json', { spec })
    await control.settle()
    expect(await address('two')).toBeUndefined()
    await cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { labels: { team: 'blue' } },
    })
    await control.settle()
    expect(new Set(await Promise.all(['two', 'three'].map(address)))).toEqual(
      new Set(['10.19.0.2', '10.19.0.3']),
    )
  })
})

describe('an IP object that a user made', () => {
  const reservation = ip({
    name: 'db.default',
    podName: 'db',
    namespace: 'default',
    subnet: 'ovn-default',
    v4IpAddress: '10.16.0.50',
    v6IpAddress: 'fd00:10:16::50',
    macAddress: '00:00:5e:00:53:50',
  })

  it('holds its addresses for its pod, before and after its life', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(ipResource, reservation)
    await control.settle()
    const asking = { [keys.ipAddress.key]: '10.16.0.50' }
    await cluster.client.create(pods, pod({ name: 'thief', node: 'n1', annotations: asking }))
    await control.settle()
    expect((await cluster.user.told('thief'))[0]).toContain('AddressConflict')
    await cluster.client.create(pods, pod({ name: 'db', node: 'n1' }))
    await control.settle()
    expect(await cluster.user.addressOf('db')).toBe('10.16.0.50,fd00:10:16::50')
    await cluster.removePod('db')
    await control.settle()
    const kept = await cluster.client.get(ipResource, { name: 'db.default' })
    expect(kept?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('true')
    expect(control.named('Logical_Switch_Port', 'db.default')).toBeUndefined()
    expect(control.named('Logical_Switch_Port', 'thief.default')).toBeUndefined()
    await cluster.client.remove(ipResource, { name: 'db.default' })
    await control.settle()
    expect(await cluster.client.get(ipResource, { name: 'db.default' })).toBeUndefined()
    expect(await cluster.user.addressOf('thief')).toMatch(/^10\.16\.0\.50,/)
  })
})
