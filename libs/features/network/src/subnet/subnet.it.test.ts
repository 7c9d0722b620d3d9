import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import { pod, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

async function read(name: string): Promise<Subnet | undefined> {
  return cluster.client.get(subnetResource, { name })
}

/** Conditions as `type=status`, and the message of the first. */
async function conditionsOf(name: string): Promise<readonly string[]> {
  const conditions = (await read(name))?.status?.conditions ?? []
  return conditions.map(({ type = '', status = '' }) => `${type}=${status}`)
}

async function messageOf(name: string): Promise<string> {
  const conditions = (await read(name))?.status?.conditions ?? []
  return conditions.find(({ type }) => type === 'Validated')?.message ?? ''
}

function blueRows(control: Controller): readonly string[] {
  return [
    ...control.rows('Logical_Switch', 'name'),
    ...control.rows('Logical_Switch_Port', 'name'),
    ...control.rows('Logical_Router_Port', 'name'),
    ...control.rows('Logical_Router_Policy', 'match'),
    ...control.rows('Port_Group', 'name'),
    ...control.rows('Address_Set', 'addresses'),
  ]
    .map((row) => JSON.stringify(row))
    .filter((text) => /blue|10\.17\.|fd00:10:17/.test(text))
}

describe('a subnet', () => {
  it('is made, brought into its normal form, changed and removed without a trace', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      subnetResource,
      subnet({
        name: 'blue',
        cidrBlock: '10.17.3.4/24,fd00:10:17::9/120',
        excludeIps: ['10.17.3.5..10.17.3.9'],
      }),
    )
    await control.settle()
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(3)
    const made = await read('blue')
    expect(made?.spec).toMatchObject({
      cidrBlock: '10.17.3.0/24,fd00:10:17::/120',
      gateway: '10.17.3.1,fd00:10:17::1',
      excludeIps: ['10.17.3.1', '10.17.3.5..10.17.3.9', 'fd00:10:17::1'],
      protocol: 'Dual',
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
    })
    expect(made?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=Unknown'])
    expect(made?.status).toMatchObject({ v4availableIPs: 248, v4usingIPs: 0, v6availableIPs: 253 })
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual([
      '10.17.3.1/24',
      'fd00:10:17::1/120',
    ])
    expect(blueRows(control)).toHaveLength(10)
    expect((await cluster.client.get(vpcResource, { name: 'ovn-cluster' }))?.status?.subnets).toContain(
      'blue',
    )

    const { mac } = control.named('Logical_Router_Port', 'ovn-cluster-blue') ?? {}
    await cluster.user.edit(subnetResource, 'blue', {
      cidrBlock: '10.17.4.0/24',
      gateway: '10.17.4.254',
      excludeIps: [],
    })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')).toMatchObject({
      mac,
      networks: ['10.17.4.254/24'],
    })
    expect(
      blueRows(control).filter((text) => text.includes('fd00:10:17') || text.includes('10.17.3')),
    ).toEqual([])

    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(await read('blue')).toBeUndefined()
    expect(blueRows(control)).toEqual([])
    expect((await cluster.client.get(vpcResource, { name: 'ovn-cluster' }))?.status?.subnets).not.toContain(
      'blue',
    )
    expect(control.problems()).toEqual([])
  })

  it('keeps the order in which a user wrote its families', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: 'fd00:10:17::/120,10.17.0.0/24' }),
    )
    await cluster.client.create(
      pods,
      pod({ name: 'p', node: 'n1', annotations: { [keys.logicalSwitch.key]: 'blue' } }),
    )
    await control.settle()
    expect((await read('blue'))?.spec).toMatchObject({
      cidrBlock: 'fd00:10:17::/120,10.17.0.0/24',
      gateway: 'fd00:10:17::1,10.17.0.1',
    })
    const told = (await cluster.client.get(pods, { namespace: 'default', name: 'p' }))?.metadata.annotations
    expect(told?.[keys.ipAddress.key]).toBe('10.17.0.2,fd00:10:17::2')
  })

  it('counts the addresses of a /64 exactly', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, subnet({ name: 'wide', cidrBlock: 'fd00:64::/64' }))
    await cluster.client.create(
      pods,
      pod({ name: 'p', node: 'n1', annotations: { [keys.logicalSwitch.key]: 'wide' } }),
    )
    await control.settle()
    const status = (await read('wide'))?.status
    // 2^64 less a few; the API server keeps numbers beyond 2^63 as floats.
    expect(Number(status?.v6availableIPs)).toBe(2 ** 64)
    expect(status).toMatchObject({ v6usingIPs: 1, v6usingIPrange: 'fd00:64::2', v4availableIPs: 0 })
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  it('has the right counts again when somebody writes over them', async () => {
    await using control = await cluster.startSettled()
    for (const v4usingIPs of [99, 1.5]) {
      const status = { v4usingIPs }
      const ref = { name: 'ovn-default' }
      const options = { subresource: 'status' } as const
      await cluster.client.patch(subnetResource, ref, 'application/merge-patch+json', { status }, options)
      await control.settle()
      const { status: now } = (await cluster.client.get(subnetResource, { name: 'ovn-default' })) ?? {}
      expect(now?.v4usingIPs).toBe(0)
    }
  })

  it('tells of excluded addresses that it does not have, once, and works all the same', async () => {
    const excludeIps = ['10.17.0.5', '10.18.0.5', '10.19.0.1..10.19.0.9']
    for (let life = 0; life < 2; life++) {
      await using control = life === 0 ? await cluster.startSettled() : await cluster.startController()
      if (life === 0)
        await cluster.client.create(
          subnetResource,
          subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', excludeIps }),
        )
      await control.settle()
      expect(await cluster.user.told('blue')).toEqual([
        expect.stringContaining(
          ': spec.excludeIps "10.18.0.5,10.19.0.1..10.19.0.9": choose addresses of the subnet, or remove them; they exclude nothing',
        ),
      ])
      expect((await read('blue'))?.status).toMatchObject({ v4availableIPs: 252 })
    }
  })

  it('waits for its last address when it is deleted, and takes no new pod meanwhile', async () => {
    await using control = await cluster.startSettled()
    const inBlue = { [keys.logicalSwitch.key]: 'blue' }
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1', annotations: inBlue }))
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'blue' })
    // Watches of several kinds keep no order among each other.
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'new', node: 'n1', annotations: inBlue }))
    await control.settle()
    expect((await read('blue'))?.metadata.deletionTimestamp).toBeDefined()
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('old.default')
    expect(await cluster.user.told('new')).toContainEqual(expect.stringContaining('being deleted'))
    const told = 'addresses of the subnet are held by pod/default/old: delete these first'
    expect(await cluster.user.told('blue')).toEqual([`SubnetInUse: ${told}`])
    expect((await read('blue'))?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Error', status: 'True', reason: 'SubnetInUse', message: told }),
    )
    await cluster.removePod('old')
    await control.settle()
    expect(await read('blue')).toBeUndefined()
    expect(blueRows(control)).toEqual([])
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('new.default')
  })

  it('of every cluster comes back when it is deleted', async () => {
    await using control = await cluster.startSettled()
    const before = (await read('ovn-default'))?.spec
    await cluster.client.remove(subnetResource, { name: 'ovn-default' })
    await control.settle()
    const after = await read('ovn-default')
    expect(after?.metadata.deletionTimestamp).toBeUndefined()
    expect(after?.spec).toEqual(before)
    await cluster.client.create(pods, pod({ name: 'p', node: 'n1' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('p.default')
  })
})

describe('a subnet that can not be used', () => {
  it.each([
    [
      { cidrBlock: '10.16.128.0/24' },
      'spec.cidrBlock',
      'does not overlap 10.16.0.0/16 of subnet ovn-default',
    ],
    [{ cidrBlock: '172.18.0.0/24' }, 'spec.cidrBlock', 'does not contain the address 172.18.0.11 of node n1'],
    [{ cidrBlock: '127.0.0.0/24' }, 'spec.cidrBlock', 'reserved'],
    [{ cidrBlock: '10.17.0.0/32' }, 'spec.cidrBlock', 'at most /31'],
    [{ cidrBlock: '10.17.0.0/24', gateway: '10.18.0.1' }, 'spec.gateway', 'inside 10.17.0.0/24'],
    [
      { cidrBlock: '10.17.0.0/24', excludeIps: ['10.17.0.9..10.17.0.5'] },
      'spec.excludeIps',
      '10.17.0.9..10.17.0.5',
    ],
    [{ cidrBlock: '10.17.0.0/24', vpc: 'other' }, 'spec.vpc', 'create a Vpc of this name'],
  ])('says why, and disturbs nothing: %j', async (spec, field, cure) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', ...spec }))
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=False', 'Ready=False', 'Error=True'])
    const message = await messageOf('blue')
    expect(message).toContain(field)
    expect(message).toContain(cure)
    expect(await cluster.user.told('blue')).toEqual([`ValidateLogicalSwitchFailed: ${message}`])
    expect(blueRows(control)).toEqual([])
    expect((await cluster.costs()).transactions).toBe(0)
    // It can go: nothing of it is in use.
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(await read('blue')).toBeUndefined()
  })

  it('after an edit keeps its pods running, and recovers', async () => {
    await using control = await cluster.startSettled()
    const inBlue = { [keys.logicalSwitch.key]: 'blue' }
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1', annotations: inBlue }))
    await control.settle()
    const before = blueRows(control)
    await cluster.forgetCosts()
    await cluster.user.edit(subnetResource, 'blue', { cidrBlock: '10.16.99.0/24', gateway: '' })
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=False', 'Ready=False', 'Error=True'])
    expect(blueRows(control)).toEqual(before)
    expect((await cluster.costs()).transactions).toBe(0)
    {
      // A restart finds it in this state.
      await control[Symbol.asyncDispose]()
      await cluster.forgetCosts()
      await using second = await cluster.startController()
      await second.settle()
      expect(blueRows(second)).toEqual(before)
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      await cluster.user.edit(subnetResource, 'blue', { cidrBlock: '10.17.0.0/24' })
      await second.settle()
      expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=False'])
      await cluster.client.create(pods, pod({ name: 'new', node: 'n1', annotations: inBlue }))
      await second.settle()
      expect(second.portsOf('Logical_Switch', 'blue')).toEqual([
        'blue-ovn-cluster',
        'new.default',
        'old.default',
      ])
    }
  })

  it('takes effect once the other one goes', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: '10.17.0.0/16' }))
    await control.settle()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.1.0/24' }))
    await control.settle()
    expect(await messageOf('blue')).toContain('10.17.0.0/16 of subnet red')
    await cluster.client.remove(subnetResource, { name: 'red' })
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=False'])
    expect(control.named('Logical_Switch', 'blue')).toBeDefined()
  })
})
