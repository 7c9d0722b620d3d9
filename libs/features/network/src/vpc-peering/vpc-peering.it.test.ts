import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { subnet, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()

const nothing = { transactions: 0, writes: [] }

/** Ports with a peer, as `name networks peer`. */
function connections(control: Controller): readonly string[] {
  return control
    .rows('Logical_Router_Port', 'name', 'networks', 'peer')
    .filter(({ peer }) => peer !== undefined)
    .map(({ name, networks, peer = '' }) => `${name} ${networks.join()} ${peer}`)
}

async function statusOf(name: string) {
  return (await cluster.client.get(vpcResource, { name }))?.status
}

async function make(name: string, remoteVpc: string, localConnectIP: string): Promise<void> {
  await cluster.client.create(vpcResource, vpc({ name, vpcPeerings: [{ remoteVpc, localConnectIP }] }))
}

const both = ['v1-v2 169.254.0.1/30,fd00:fe::1/64 v2-v1', 'v2-v1 169.254.0.2/30,fd00:fe::2/64 v1-v2']

async function makeBoth(): Promise<void> {
  await make('v1', 'v2', '169.254.0.1/30,fd00:fe::1/64')
  await make('v2', 'v1', '169.254.0.2/30,fd00:fe::2/64')
}

describe('a connection of two VPCs', () => {
  it('is made from both sides, changed and taken away', async () => {
    await using control = await cluster.startSettled()
    await make('v1', 'v2', '169.254.0.1/30,fd00:fe::1/64')
    await control.settle()
    expect(await cluster.user.told('v1')).toEqual([
      'VpcInvalid: spec.vpcPeerings[0].remoteVpc "v2": create a Vpc of this name',
    ])
    await make('v2', 'v1', '169.254.0.2/30,fd00:fe::2/64')
    await control.settle()
    expect(connections(control)).toEqual(both)
    for (const [name, peer] of [
      ['v1', 'v2'],
      ['v2', 'v1'],
    ] as const) {
      expect(await statusOf(name)).toMatchObject({ vpcPeerings: [peer] })
      expect((await statusOf(name))?.conditions ?? []).toEqual([])
      const { options } = control.named('Logical_Router', name) ?? {}
      expect(options).not.toHaveProperty('always_learn_from_arp_request')
    }
    const { mac } = control.named('Logical_Router_Port', 'v1-v2') ?? {}
    await cluster.forgetCosts()
    await cluster.user.edit(vpcResource, 'v1', {
      vpcPeerings: [{ remoteVpc: 'v2', localConnectIP: '169.254.0.1/30' }],
    })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(control.named('Logical_Router_Port', 'v1-v2')).toMatchObject({ mac, networks: ['169.254.0.1/30'] })
    await cluster.user.edit(vpcResource, 'v1', { vpcPeerings: [] })
    await control.settle()
    expect(connections(control)).toEqual(both.slice(1))
    expect(await statusOf('v1')).toMatchObject({ vpcPeerings: [] })
    expect(control.named('Logical_Router', 'v1')?.options).toMatchObject({
      always_learn_from_arp_request: 'false',
    })
    expect((await statusOf('v2'))?.conditions).toMatchObject([
      {
        type: 'Validated',
        status: 'False',
        message: expect.stringContaining('list v2 in spec.vpcPeerings') as string,
      },
    ])
    await cluster.client.remove(vpcResource, { name: 'v2' })
    await control.settle()
    expect(connections(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('is as it was after a restart, and back when somebody takes it away, and a foreign port stays', async () => {
    const { northbound } = cluster
    await northbound.nbctl(
      'lr-add',
      'foreign',
      '--',
      'lrp-add',
      'foreign',
      'f-1',
      '00:00:5e:00:53:01',
      '10.9.0.1/24',
    )
    await northbound.nbctl('set', 'Logical_Router_Port', 'f-1', 'peer=f-2')
    {
      await using control = await cluster.startSettled()
      await makeBoth()
      await control.settle()
      await cluster.forgetCosts()
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await northbound.nbctl('lrp-del', 'v1-v2')
    await northbound.nbctl('set', 'Logical_Router_Port', 'v2-v1', 'networks=10.0.0.1/24')
    await control.settle()
    expect(connections(control)).toEqual(['f-1 10.9.0.1/24 f-2', ...both])
  })

  it('of upstream is taken over, with the MAC addresses that it has', async () => {
    {
      await using control = await cluster.startSettled()
      await makeBoth()
      await control.settle()
    }
    const list = () =>
      cluster.northbound.nbctl('--bare', '--columns=_uuid,mac,peer', 'list', 'Logical_Router_Port')
    const before = await list()
    for (const name of ['v1-v2', 'v2-v1'])
      await cluster.northbound.nbctl(
        ...['set', 'Logical_Router_Port', name, `external_ids={vendor=kube-ovn,lr=${name.slice(0, 2)}}`],
      )
    await using control = await cluster.startController()
    await control.settle()
    expect(await list()).toBe(before)
  })

  it('is refused with itself, and where its prefix or its name is taken', async () => {
    await using control = await cluster.startSettled()
    await make('v1', 'v1', '169.254.0.1/30')
    await make('v2', 'v1', '10.30.0.9/24')
    await make('v3', 'v1', '169.254.0.1/30')
    await cluster.client.create(subnetResource, subnet({ name: 's2', vpc: 'v2', cidrBlock: '10.30.0.0/16' }))
    await cluster.client.create(subnetResource, subnet({ name: 'v1', vpc: 'v3', cidrBlock: '10.30.0.0/16' }))
    await control.settle()
    expect(connections(control)).toEqual([])
    expect(await cluster.user.told('v2')).toContainEqual(
      expect.stringContaining('choose a prefix that does not overlap subnet s2'),
    )
    expect(await cluster.user.told('v3')).toContainEqual(
      expect.stringContaining('delete the subnet v1 first'),
    )
    expect(await cluster.user.told('v1')).toContainEqual(
      expect.stringContaining('name another Vpc: this is the very same'),
    )
    expect(await statusOf('v1')).toMatchObject({ standby: true })
    await cluster.client.remove(subnetResource, { name: 's2' })
    await control.settle()
    expect(connections(control)).toEqual(['v2-v1 10.30.0.9/24 v1-v2'])
    expect(control.problems()).toEqual([])
  })
})
