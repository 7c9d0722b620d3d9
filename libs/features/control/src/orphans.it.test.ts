import { vpcAnnotations } from '@kube-ovn/annotations'
import { vpcResource } from '@kube-ovn/kube-api'
import { events } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'
import type { Controller } from './testing/controller.ts'

const cluster = ControlCluster.ofSuite()

/** Ports as an earlier controller left them, of pods that nobody knows. */
async function leavePorts(count: number): Promise<void> {
  const commands = Array.from({ length: count }, (_, n) => [
    '--',
    ...['lsp-add', 'ovn-default', `gone${n}.default`, '--', 'set', 'Logical_Switch_Port', `gone${n}.default`],
    ...['external_ids:vendor=kube-ovn', `external_ids:owner=pod-port/default/gone${n}`],
    `external_ids:id=lsp/gone${n}.default`,
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
