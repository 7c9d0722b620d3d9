import { podAnnotations } from '@kube-ovn/annotations'
import { pods } from '@kube-ovn/kube-api/core'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { pod } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

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

it('gives pods that come while the Northbound is busy their ports in one transaction', async () => {
  await using control = await cluster.startSettled()
  const names = Array.from({ length: 50 }, (_, n) => `p${n}`)
  const { server } = cluster.northbound
  await server.freeze()
  try {
    await Promise.all(names.map((name) => cluster.client.create(pods, pod({ name, node: 'n1' }))))
    await expect.poll(() => [...control.world.pods.values()].length).toBe(50)
  } finally {
    await server.thaw()
  }
  await control.settle()
  const { transactions, writes } = await cluster.costs()
  // The first is on its way when the rest comes.
  expect(transactions).toBeLessThanOrEqual(2)
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
