import { podAnnotations } from '@kube-ovn/annotations'
import { namespaces, pods, statefulSets } from '@kube-ovn/kube-api/core'
import type { StatefulSet } from '@kube-ovn/kube-api/core'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { namespace, pod, statefulSet, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster, createInBlue, dualStack, readBlue, startWithBlue } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2'))

const keys = podAnnotations()
const mergePatch = 'application/merge-patch+json'

/** What the StatefulSet's controller makes of one member. */
async function createMember(
  set: StatefulSet,
  ordinal: number,
  fields: { readonly node?: string } = {},
): Promise<void> {
  const { name, namespace = 'default', uid = '' } = set.metadata
  const template = set.spec?.template?.metadata?.annotations
  await cluster.client.create(
    pods,
    pod({
      name: `${name}-${ordinal}`,
      namespace,
      node: fields.node ?? 'n1',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }],
      ...(template === undefined ? {} : { annotations: template }),
    }),
  )
}

async function macOf(name: string): Promise<string | undefined> {
  return (await cluster.user.annotationsOf({ name }))[keys.macAddress.key]
}

describe('a member of a StatefulSet', () => {
  it('keeps its addresses while it is away, and comes back to them on another node', async () => {
    await using control = await cluster.startController()
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2 }))
    await createMember(set, 0)
    await control.settle()
    const before = [await cluster.user.addressOf('db-0'), await macOf('db-0')]
    const record = await cluster.client.get(ipResource, { name: 'db-0.default' })
    expect(record?.spec?.podType).toBe('StatefulSet')

    await cluster.forgetCosts()
    await cluster.removePod('db-0')
    await cluster.user.createPod({ name: 'other' })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeDefined()
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('db-0.default')
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['other.default'])
    expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual(['other.default'])
    expect(await cluster.client.get(ipResource, { name: 'db-0.default' })).toBeDefined()

    await createMember(set, 0, { node: 'n2' })
    await control.settle()
    expect([await cluster.user.addressOf('db-0'), await macOf('db-0')]).toEqual(before)
    expect(control.portsOf('Port_Group', 'node.n2')).toEqual(['db-0.default'])
    expect(control.problems()).toEqual([])
  })

  it('keeps them over a restart, too', async () => {
    const set = await cluster.client.create(statefulSets, statefulSet())
    let before = ''
    {
      await using control = await cluster.startController()
      await createMember(set, 0)
      await control.settle()
      before = await cluster.user.addressOf('db-0')
      await cluster.removePod('db-0')
      await control.settle()
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await cluster.user.createPod({ name: 'other' })
    await createMember(set, 0)
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.user.addressOf('db-0')).toBe(before)
    expect(await cluster.user.addressOf('other')).not.toBe(before)
  })

  it('gives them back when the set shrinks, whether it is away by then or not', async () => {
    await using control = await cluster.startController()
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 3 }))
    for (const ordinal of [0, 1, 2]) await createMember(set, ordinal)
    await control.settle()
    const ref = { namespace: 'default', name: 'db' }
    await cluster.removePod('db-2')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-2.default')).toBeDefined()
    await cluster.client.patch(statefulSets, ref, mergePatch, { spec: { replicas: 1 } })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-2.default')).toBeUndefined()
    expect(control.named('Logical_Switch_Port', 'db-1.default')).toBeDefined()
    await cluster.removePod('db-1')
    await control.settle()
    expect((await cluster.client.list(ipResource)).items.map(({ metadata }) => metadata.name)).toEqual([
      'db-0.default',
      'node-n1',
      'node-n2',
    ])
    expect(control.world.ipam.lease('db-2.default')).toBeUndefined()
  })

  it('gives them back once the set starts after it, for good', async () => {
    await using control = await cluster.startController()
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2 }))
    await createMember(set, 0)
    await createMember(set, 1)
    await control.settle()
    const before = await cluster.user.addressOf('db-1')
    await cluster.removePod('db-0')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeDefined()
    const startAt = (start: number) =>
      cluster.client.patch(statefulSets, { namespace: 'default', name: 'db' }, mergePatch, {
        spec: { ordinals: { start } },
      })
    await startAt(1)
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeUndefined()
    expect(control.world.ipam.lease('db-0.default')).toBeUndefined()
    // What a member below the start runs with stays until its pod is gone.
    await startAt(2)
    await control.settle()
    expect(control.world.ipam.lease('db-1.default')).toBeDefined()
    expect(await cluster.user.addressOf('db-1')).toBe(before)
    await cluster.removePod('db-1')
    await control.settle()
    expect((await cluster.client.list(ipResource)).items.map(({ metadata }) => metadata.name)).toEqual([
      'node-n1',
      'node-n2',
    ])
    await startAt(0)
    await control.settle()
    expect(control.world.ipam.lease('db-1.default')).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('below the start of its set gives them back in a restart, too', async () => {
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2 }))
    {
      await using control = await cluster.startController()
      await createMember(set, 0)
      await control.settle()
      await cluster.removePod('db-0')
      await control.settle()
    }
    await cluster.client.patch(statefulSets, { namespace: 'default', name: 'db' }, mergePatch, {
      spec: { ordinals: { start: 1 } },
    })
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'db-0.default' })).toBeUndefined()
  })

  it('keeps its number when the set does not start at 0', async () => {
    await using control = await cluster.startController()
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2, start: 10 }))
    await createMember(set, 11)
    await control.settle()
    const before = await cluster.user.addressOf('db-11')
    await cluster.removePod('db-11')
    await control.settle()
    await createMember(set, 11)
    await control.settle()
    expect(await cluster.user.addressOf('db-11')).toBe(before)
  })

  it.each<[string, (set: StatefulSet) => Promise<unknown>]>([
    ['is deleted', () => cluster.client.remove(statefulSets, { namespace: 'default', name: 'db' })],
    [
      'is another one of the same name',
      async () => {
        await cluster.client.remove(statefulSets, { namespace: 'default', name: 'db' })
        await cluster.client.create(statefulSets, statefulSet())
      },
    ],
    [
      'takes its addresses from another subnet',
      () =>
        cluster.client.create(
          subnetResource,
          subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', namespaces: ['default'] }),
        ),
    ],
    [
      'is to have them by its template',
      () =>
        cluster.client.patch(statefulSets, { namespace: 'default', name: 'db' }, mergePatch, {
          spec: { template: { metadata: { annotations: { [keys.logicalSwitch.key]: 'blue' } } } },
        }),
    ],
    ['loses its record', () => cluster.client.remove(ipResource, { name: 'db-0.default' })],
  ])('that is away gives them back when the set %s', async (_name, act) => {
    await using control = await cluster.startController()
    const set = await cluster.client.create(statefulSets, statefulSet())
    await createMember(set, 0)
    await control.settle()
    await cluster.removePod('db-0')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeDefined()
    await act(set)
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'db-0.default' })).toBeUndefined()
    expect(control.world.ipam.lease('db-0.default')).toBeUndefined()
  })

  it('moves with its namespace', async () => {
    await using control = await cluster.startController()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    const set = await cluster.client.create(statefulSets, statefulSet({ namespace: 'shop' }))
    await createMember(set, 0)
    await control.settle()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', namespaces: ['shop'] }),
    )
    await control.settle()
    expect(await cluster.user.addressOf('db-0', 'shop')).toMatch(/^10\.16\./)
    await cluster.removePod('db-0', 'shop')
    await createMember(set, 0)
    await control.settle()
    expect(await cluster.user.addressOf('db-0', 'shop')).toBe('10.17.0.2')
  })
})

describe('a member of a StatefulSet that comes back with other addresses', () => {
  const inBlue = { [keys.logicalSwitch.key]: 'blue' }

  async function createMemberWith(annotations: Readonly<Record<string, string>>): Promise<void> {
    const set = await cluster.client.get(statefulSets, { namespace: 'default', name: 'db' })
    const template = { metadata: { annotations: { ...inBlue, ...annotations } } }
    if (set !== undefined) await createMember({ ...set, spec: { ...set.spec, template } }, 0)
  }

  it('lets those have the former ones who wait for them, and counts', async () => {
    await using control = await startWithBlue(cluster, { ...dualStack, cidr: '10.17.0.0/24' })
    await cluster.client.create(statefulSets, statefulSet({ annotations: inBlue }))
    await createMemberWith({ [keys.ipPool.key]: '10.17.0.50' })
    await control.settle()
    await createInBlue(cluster, control, ['waits'], { [keys.ipAddress.key]: '10.17.0.50' })
    await cluster.removePod('db-0')
    await control.settle()
    await createMemberWith({ [keys.ipPool.key]: '10.17.0.60' })
    await control.settle()
    expect(await cluster.user.addressesOf('db-0', 'waits')).toEqual(['10.17.0.60', '10.17.0.50'])
    expect((await readBlue(cluster))?.status?.v4usingIPrange).toBe('10.17.0.50,10.17.0.60')
  })

  it('has the one family that it asks for by then', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    await cluster.client.create(statefulSets, statefulSet({ annotations: inBlue }))
    await createMemberWith({})
    await control.settle()
    await cluster.removePod('db-0')
    await control.settle()
    await createMemberWith({ [keys.ipFamily.key]: 'ipv4' })
    await control.settle()
    expect(await cluster.user.addressOf('db-0')).toBe('10.17.0.2')
    expect((await readBlue(cluster))?.status?.v6usingIPs).toBe(0)
  })

  it('counts in the family that it gained', async () => {
    await using control = await startWithBlue(cluster, { ...dualStack, cidr: '10.17.0.0/24' })
    await cluster.client.create(statefulSets, statefulSet({ annotations: inBlue }))
    await createMemberWith({})
    await control.settle()
    await cluster.user.edit(subnetResource, 'blue', { cidrBlock: dualStack.cidr })
    await control.settle()
    await cluster.removePod('db-0')
    await control.settle()
    await createMemberWith({})
    await control.settle()
    expect(await cluster.user.addressOf('db-0')).toBe('10.17.0.2,fd00:10:17::2')
    expect((await readBlue(cluster))?.status?.v6usingIPs).toBe(1)
  })
})

describe('a list of addresses in ip_pool', () => {
  const v4 = '10.16.0.100,10.16.0.101,10.16.0.102'
  const dual = '10.16.0.100,fd00:10:16::100;10.16.0.101,fd00:10:16::101'

  it.each([
    { name: 'IPv4', pool: v4, want: ['10.16.0.100,fd00:10:16::2', '10.16.0.101,fd00:10:16::3'] },
    {
      name: 'both families',
      pool: dual,
      want: ['10.16.0.100,fd00:10:16::100', '10.16.0.101,fd00:10:16::101'],
    },
    {
      name: 'a range',
      pool: '10.16.0.100..10.16.0.109',
      want: ['10.16.0.100,fd00:10:16::2', '10.16.0.101,fd00:10:16::3'],
    },
    {
      name: 'IPv6',
      pool: 'fd00:10:16::100,fd00:10:16::101',
      want: ['10.16.0.2,fd00:10:16::100', '10.16.0.3,fd00:10:16::101'],
    },
  ])('of $name serves the members of a StatefulSet by their number', async ({ pool, want }) => {
    await using control = await cluster.startController()
    const annotations = { [keys.ipPool.key]: pool }
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2, annotations }))
    await createMember(set, 0)
    await control.settle()
    await createMember(set, 1)
    await control.settle()
    expect([await cluster.user.addressOf('db-0'), await cluster.user.addressOf('db-1')]).toEqual(want)
  })

  it.each([
    { name: 'IPv4', pool: v4, want: /^10\.16\.0\.10[012],/ },
    { name: 'both families', pool: dual, want: /^10\.16\.0\.10([01]),fd00:10:16::10\1$/ },
  ])('of $name serves any pods, first come first served', async ({ pool, want }) => {
    await using control = await cluster.startController()
    const annotations = { [keys.ipPool.key]: pool }
    for (const name of ['web-a', 'web-b']) {
      await cluster.user.createPod({ name, annotations })
      await control.settle()
    }
    const addresses = [await cluster.user.addressOf('web-a'), await cluster.user.addressOf('web-b')]
    for (const address of addresses) expect(address).toMatch(want)
    expect(addresses[0]).toMatch(/^10\.16\.0\.100,/)
    // Who comes after one has gone takes its address.
    await cluster.removePod('web-a')
    await control.settle()
    await cluster.user.createPod({ name: 'web-c', annotations })
    await control.settle()
    expect((await cluster.user.addressOf('web-c')).split(',')[0]).toBe('10.16.0.100')
  })

  it('that is too short for the set tells the member without an entry, and serves the others', async () => {
    await using control = await cluster.startController()
    const annotations = { [keys.ipPool.key]: '10.16.0.100' }
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2, annotations }))
    await createMember(set, 1)
    await createMember(set, 0)
    await control.settle()
    expect(await cluster.user.addressOf('db-0')).toBe('10.16.0.100,fd00:10:16::2')
    expect(await cluster.user.addressOf('db-1')).toBe('')
    expect(control.problems().join()).toContain('the list has no entry for this member')
  })
})
