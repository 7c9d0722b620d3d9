import { podAnnotations } from '@kube-ovn/annotations'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import type { KubeObject } from '@kube-ovn/kube'
import type { DryRun, PlannedChange } from '@kube-ovn/reconcile'
import { pod, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
let control: Controller
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()
const namespace = 'default'

/** Plans, and sees that nothing comes of it but the plan. */
async function plan(...changes: readonly PlannedChange[]): Promise<DryRun> {
  await control.settle()
  await cluster.forgetCosts()
  const planned = control.kernel.planChanges(changes)
  // Recomputes everything, too, and finds nothing that is different from before.
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  return planned
}

function rowsOf({ outcomes }: DryRun): readonly string[] {
  return outcomes.map(({ outcome, id }) => `${outcome} ${id}`).sort()
}

function writesOf({ writes }: DryRun): readonly string[] {
  return writes
    .map(({ patch, write }) =>
      [write.verb, patch.resource.plural, patch.name, patch.subresource ?? ''].join(' ').trim(),
    )
    .sort()
}

/** Ids of rows that differ from before, as `inserted`, `updated` or `deleted`. */
function watchRows(): () => readonly string[] {
  const before = idsOf()
  return () => {
    const after = idsOf()
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
      if (!before.has(id)) return [`inserted ${id}`]
      if (!after.has(id)) return [`deleted ${id}`]
      return before.get(id) === after.get(id) ? [] : [`updated ${id}`]
    })
  }
}

/** Every marked row by its id, without the columns to which others contribute. */
function idsOf(): ReadonlyMap<string, string> {
  const tables = [
    'Logical_Switch',
    'Logical_Switch_Port',
    'Logical_Router',
    'Logical_Router_Port',
    'Logical_Router_Policy',
    'Logical_Router_Static_Route',
    'Port_Group',
    'Address_Set',
  ] as const
  const rows = tables.flatMap((table) => [...control.world.northbound.scan(table)])
  return new Map(
    rows.map((row) => {
      const { ports: _ports, policies: _policies, ...own } = { ports: [], policies: [], ...row }
      return [row.external_ids['id'] ?? row._uuid, JSON.stringify(own)]
    }),
  )
}

it('tells which port and which addresses a pod would get, and keeps none of them', async () => {
  await using controller = await cluster.startController()
  control = controller
  const planned = await plan({ resource: pods, object: pod({ name: 'web', node: 'n1' }) })
  expect(rowsOf(planned)).toEqual(['inserted lsp/web.default'])
  expect(writesOf(planned)).toEqual([
    'create ips web.default',
    'patch pods web',
    'patch subnets ovn-default status',
  ])
  const write = planned.writes.find(({ patch }) => patch.resource.plural === 'pods')?.write
  const created = pod({ name: 'web', node: 'n1' })
  const difference = watchRows()
  await cluster.client.create(pods, created)
  await control.settle()
  expect(difference()).toEqual(rowsOf(planned))
  const web = await cluster.client.get(pods, { namespace, name: 'web' })
  const address = web?.metadata.annotations?.[keys.ipAddress.key]
  expect(write).toMatchObject({
    verb: 'patch',
    patch: { metadata: { annotations: { [keys.ipAddress.key]: address } } },
  })
})

it('tells what goes with a pod; its address is free only afterwards', async () => {
  await using controller = await cluster.startController()
  control = controller
  const annotations = { [keys.ipAddress.key]: '10.16.0.10' }
  await cluster.client.create(pods, pod({ name: 'web', node: 'n1', annotations }))
  await control.settle()
  await cluster.client.create(pods, pod({ name: 'waits', node: 'n1', annotations }))
  const planned = await plan({ resource: pods, remove: { namespace, name: 'web' } })
  expect(rowsOf(planned)).toEqual(['deleted lsp/web.default'])
  expect(writesOf(planned)).toContain('delete ips web.default')
  const difference = watchRows()
  await cluster.removePod('web')
  await control.settle()
  expect(difference().toSorted()).toEqual([...rowsOf(planned), 'inserted lsp/waits.default'])
})

it('tells what a new subnet, an edit of it and its end would change', async () => {
  await using controller = await cluster.startController()
  control = controller
  const blue = subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' })
  const created = await plan({ resource: subnetResource, object: blue })
  expect(rowsOf(created)).toContain('inserted ls/blue')
  let difference = watchRows()
  await cluster.client.create(subnetResource, blue)
  await control.settle()
  expect(difference().toSorted()).toEqual(rowsOf(created).filter((line) => !line.startsWith('updated lr/')))

  const current = (await cluster.client.get(subnetResource, { name: 'blue' })) as KubeObject & {
    spec: object
  }
  const edited = await plan({
    resource: subnetResource,
    object: { ...current, spec: { ...current.spec, gateway: '10.17.0.9' } } as KubeObject,
  })
  difference = watchRows()
  const spec = { gateway: '10.17.0.9' }
  await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', { spec })
  await control.settle()
  expect(rowsOf(edited).length).toBeGreaterThan(0)
  expect(difference().toSorted()).toEqual(rowsOf(edited))

  const ended = await plan({ resource: subnetResource, remove: { name: 'blue' } })
  expect(rowsOf(ended)).toContain('deleted ls/blue')
  difference = watchRows()
  await cluster.client.remove(subnetResource, { name: 'blue' })
  await control.settle()
  expect(difference().toSorted()).toEqual(rowsOf(ended))
})

it('tells why something would be refused', async () => {
  await using controller = await cluster.startController()
  control = controller
  const bad = subnet({ name: 'bad', cidrBlock: '10.16.0.0/24' })
  const { refusals, outcomes } = await plan({ resource: subnetResource, object: bad })
  expect(outcomes).toEqual([])
  expect([...refusals].map(([owner, { code }]) => [owner, code])).toEqual([['subnet/bad', 'subnet-conflict']])
  expect(await cluster.client.get(ipResource, { name: 'bad' })).toBeUndefined()
})
