import { controllerDefinitions, subnetResource } from '@kube-ovn/kube-api'
import { customResourceDefinitions, type FieldSchema } from '@kube-ovn/kube-api/core'
import { KubeUnavailableError, type Resource } from '@kube-ovn/kube'
import { subnet } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  address,
  ControlCluster,
  dualStack,
  elsewhere,
  inBlue,
  readBlue,
  startWithBlue,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

/** What our definitions have beyond those of upstream. */
const added = ['inEffect', 'observedGeneration']

type Status = Readonly<Record<string, FieldSchema | null>>

/** The fields of a kind's status that its definition has and upstream's has not. */
async function addedFields({ plural, group }: Resource): Promise<Status> {
  const definition = await cluster.client.get(customResourceDefinitions, { name: `${plural}.${group}` })
  const schema = definition?.spec.versions[0]?.schema?.openAPIV3Schema
  const fields = schema?.properties?.['status']?.properties ?? {}
  return Object.fromEntries(Object.entries(fields).filter(([field]) => added.includes(field)))
}

/** Replaces fields of the status in a definition; `null` takes one away. */
async function define({ plural, group }: Resource, fields: Status): Promise<void> {
  if (Object.keys(fields).length === 0) return
  const name = `${plural}.${group}`
  const definition = await cluster.client.get(customResourceDefinitions, { name })
  const versions = definition?.spec.versions.map((version) => {
    const { properties = {}, ...rest } = version.schema?.openAPIV3Schema ?? {}
    const { properties: before = {}, ...status } = properties['status'] ?? {}
    const after = Object.entries({ ...before, ...fields }).filter(([, field]) => field !== null)
    const changed = { ...properties, status: { ...status, properties: Object.fromEntries(after) } }
    return { ...version, schema: { openAPIV3Schema: { ...rest, properties: changed } } }
  })
  const change = { spec: JSON.parse(JSON.stringify({ versions })) as object }
  await cluster.client.patch(customResourceDefinitions, { name }, 'application/merge-patch+json', change)
}

const fields = new Map<Resource, Status>()

beforeAll(async () => {
  for (const { resource } of controllerDefinitions) fields.set(resource, await addedFields(resource))
})
afterAll(async () => {
  for (const [resource, ours] of fields) await define(resource, ours)
  await untilServed(true)
})

async function defineAsUpstream(): Promise<void> {
  for (const [resource, ours] of fields)
    await define(resource, Object.fromEntries(Object.keys(ours).map((field) => [field, null])))
}

async function untilKept(control: Controller, isKept: boolean): Promise<void> {
  await expect.poll(() => control.world.definitions.keeps(subnetResource, 'inEffect')).toBe(isKept)
}

/** The server takes a definition up some time after it has it, and serves nothing for a moment. */
async function untilServed(isKept: boolean): Promise<void> {
  const ref = { name: 'probe' }
  await vi.waitUntil(
    async () => {
      try {
        if ((await cluster.client.get(subnetResource, ref)) === undefined)
          await cluster.client.create(subnetResource, { metadata: ref })
        const status = { inEffect: { mtu: 1 }, v4usingIPrange: String(performance.now()) }
        const options = { subresource: 'status' } as const
        const type = 'application/merge-patch+json'
        const answer = await cluster.client.patch(subnetResource, ref, type, { status }, options)
        return (answer.status?.inEffect !== undefined) === isKept
      } catch (error) {
        if (error instanceof KubeUnavailableError) return false
        throw error
      }
    },
    { timeout: 180_000 },
  )
  await cluster.client.remove(subnetResource, ref)
}

describe('with the definitions of upstream', () => {
  it('does all the same, writes nothing that would be dropped, and nothing in a restart', async () => {
    await cluster.user.createNodes('n1')
    await defineAsUpstream()
    await untilServed(false)
    {
      await using control = await startWithBlue(cluster, dualStack)
      await untilKept(control, false)
      await cluster.user.createPod({ name: 'a', annotations: inBlue })
      await cluster.user.edit(subnetResource, 'blue', { gateway: '10.17.0.254,fd00:10:17::fe' })
      await control.settle()
      expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual([
        '10.17.0.254/24',
        'fd00:10:17::fe/120',
      ])
      expect(await cluster.user.addressOf('a')).toBe(address(dualStack, 2))
      expect((await readBlue(cluster))?.status?.inEffect).toBeUndefined()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      for (const [resource, ours] of fields) await define(resource, ours)
      await untilServed(true)
    }
    await using control = await cluster.startController()
    await control.settle()
    expect((await readBlue(cluster))?.status?.inEffect?.gateway).toBe('10.17.0.254,fd00:10:17::fe')
    await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: elsewhere(dualStack).cidr }))
    await control.settle()
    expect(control.named('Logical_Switch', 'red')).toBeDefined()
    // Nothing waits for a field that goes.
    await defineAsUpstream()
    await untilKept(control, false)
    await cluster.user.edit(subnetResource, 'red', { gateway: address(elsewhere(dualStack), 9) })
    await expect
      .poll(() => control.named('Logical_Router_Port', 'ovn-cluster-red')?.networks[0])
      .toBe('10.27.0.9/24')
  })
})
