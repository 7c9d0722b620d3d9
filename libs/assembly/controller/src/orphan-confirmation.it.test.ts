import { podAnnotations, vpcAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vipResource, vpcResource } from '@kube-ovn/kube-api'
import { events } from '@kube-ovn/kube-api/core'
import { subnet, vip } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

/** Ports as an earlier controller left them, of pods that nobody knows. */
async function leavePorts(count: number): Promise<void> {
  const commands = Array.from({ length: count }, (_, n) => [
    '--',
    ...['lsp-add', 'ovn-default', `gone${n}.default`, '--', 'set', 'Logical_Switch_Port', `gone${n}.default`],
    ...['external_ids:vendor=kube-ovn', `external_ids:owner=pod-port/default/gone${n}`],
    ...[`external_ids:id=lsp/gone${n}.default`, `external_ids:pod=default/gone${n}`],
  ])
  await cluster.northbound.nbctl(...commands.flat())
}

async function oneLife(): Promise<void> {
  await using control = await cluster.startController()
  await control.settle()
}

async function confirm(control: Controller, token: string): Promise<void> {
  const annotations = { [vpcAnnotations.deleteOrphans.key]: token }
  const ref = { name: 'ovn-cluster' }
  await cluster.client.patch(vpcResource, ref, 'application/merge-patch+json', { metadata: { annotations } })
  await control.settle()
}

function ports(control: Controller): number {
  return control.rows('Logical_Switch_Port', 'name').filter(({ name }) => name.startsWith('gone')).length
}

async function told(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items.filter(({ reason }) => reason === 'OrphansHeld').map(({ message = '' }) => message)
}

it('deletes few ports without a pod at once', async () => {
  await oneLife()
  await leavePorts(50)
  await using control = await cluster.startController()
  await control.settle()
  expect(ports(control)).toBe(0)
  expect(await told()).toEqual([])
})

it('deletes many ports without a pod only when an annotation of the Vpc says so', async () => {
  await oneLife()
  await leavePorts(60)
  await oneLife()
  await using control = await cluster.startController()
  await control.settle()
  expect(ports(control)).toBe(60)
  const [message = '', ...others] = await told()
  expect(others).toEqual([])
  expect(message).toMatch(
    /^60 of 60 rows of kind lsp .*: kubectl annotate --overwrite vpc ovn-cluster ovn\.kubernetes\.io\/delete_orphans=\w+$/,
  )
  await confirm(control, 'another')
  expect(ports(control)).toBe(60)
  const token = message.split('=').at(-1) ?? ''
  await cluster.forgetCosts()
  await confirm(control, token)
  expect(ports(control)).toBe(0)
  expect((await cluster.costs()).transactions).toBe(2)

  // The annotation, which is still there, confirms nothing else.
  await leavePorts(51)
  await control.settle()
  expect(ports(control)).toBe(51)
  expect(await told()).toHaveLength(2)
})

it('holds many ports without a pod, and deletes what else is without an object', async () => {
  await oneLife()
  await leavePorts(60)
  const pool = [
    'external_ids:vendor=kube-ovn',
    'external_ids:owner=ip-pool/gone',
    'external_ids:id=as-pool/gone',
  ]
  await cluster.northbound.nbctl('create', 'Address_Set', 'name=gone', ...pool)
  await using control = await cluster.startController()
  await control.settle()
  expect(ports(control)).toBe(60)
  expect(control.rows('Address_Set', 'name').map(({ name }) => name)).not.toContain('gone')
  expect(await told()).toHaveLength(1)
})

it('deletes ports that nobody has adopted, but for those of a pod or Vip that can not be served', async () => {
  await cluster.user.createNodes('n1')
  await oneLife()
  const leave = (name: string) =>
    cluster.northbound.nbctl(
      ...['lsp-add', 'ovn-default', `${name}.default`, '--', 'set', 'Logical_Switch_Port', `${name}.default`],
      ...['external_ids:vendor=kube-ovn', `external_ids:pod=default/${name}`],
    )
  await leave('gone')
  await leave('waits')
  await leave('machine')
  const { ipAddress } = podAnnotations()
  await cluster.user.createPod({ name: 'waits', annotations: { [ipAddress.key]: '192.0.2.1' } })
  const waiting = vip({ name: 'machine', subnet: 'absent', namespace: 'default', type: 'kube_host_vm_vip' })
  await cluster.client.create(vipResource, waiting)
  for (const name of ['waits', 'machine']) cluster.declareForeign('Logical_Switch_Port', `${name}.default`)
  await using control = await cluster.startController()
  await control.settle()
  const names = control.rows('Logical_Switch_Port', 'name').map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['waits.default', 'machine.default']))
  expect(names).not.toContain('gone.default')
})

describe('what nobody has adopted goes, but for what is called after an object that can not be served', () => {
  const invalid = subnet({ name: 'invalid', cidrBlock: '127.0.0.0/24' })
  type Table = 'Logical_Switch' | 'Address_Set'
  const leave = (table: Table, name: string, marks: readonly string[]) =>
    cluster.northbound.nbctl('create', table, `name=${name}`, 'external_ids:vendor=kube-ovn', ...marks)

  it.each<[table: Table, nameOf: (object: string) => string, marksOf: (object: string) => readonly string[]]>(
    [
      ['Logical_Switch', (object) => object, () => []],
      [
        'Address_Set',
        (object) => `${object}.u2o_exclude_ip.ip4`,
        (object) => [`external_ids:subnet=${object}`, 'external_ids:isU2ORoutePolicy=true'],
      ],
    ],
  )('%s', async (table, nameOf, marksOf) => {
    await cluster.client.create(subnetResource, invalid)
    await oneLife()
    for (const object of ['gone', 'invalid']) await leave(table, nameOf(object), marksOf(object))
    cluster.declareForeign(table, nameOf('invalid'))
    await using control = await cluster.startController()
    await control.settle()
    const names = control.rows(table, 'name').map(({ name }) => name)
    expect(names).toContain(nameOf('invalid'))
    expect(names).not.toContain(nameOf('gone'))
  })
})
