import { ovnEipResource, subnetResource, vpcResource, type VpcSpec } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { ovnEip, subnet, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  const external = {
    name: 'external',
    cidrBlock: '10.5.204.0/24,fd00:5::/120',
    gateway: '10.5.204.254,fd00:5::fe',
  }
  await cluster.client.create(subnetResource, subnet(external))
})

const merge = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }

async function gateway(name: string, is: string | null = 'true'): Promise<void> {
  const metadata = {
    labels: { 'ovn.kubernetes.io/external-gw': is },
    annotations: { 'ovn.kubernetes.io/chassis': `chassis-${name}` },
  }
  await cluster.client.patch(nodes, { name }, merge, { metadata })
}

async function make(spec: VpcSpec = { enableExternal: true }): Promise<void> {
  await cluster.client.create(vpcResource, vpc({ name: 'red', ...spec }))
}

async function status() {
  return (await cluster.client.get(vpcResource, { name: 'red' }))?.status
}

async function eips(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(ovnEipResource)
  return items.map(({ metadata, status: has }) => `${metadata.name} ${has?.type ?? ''} ${has?.v4Ip ?? ''}`)
}

async function uidOfEip(): Promise<string | undefined> {
  return (await cluster.client.get(ovnEipResource, { name: 'red-external' }))?.metadata.uid
}

/** Nodes that may host ports of routers, as `name priority`. */
function hosts(control: Controller): readonly string[] {
  return control
    .rows('Gateway_Chassis', 'name', 'priority')
    .map(({ name, priority }) => `${name} ${priority}`)
    .sort()
}

const bothHosts = ['red-external-chassis-n1 99', 'red-external-chassis-n2 100']

describe('a VPC that is connected to the external subnet', () => {
  it('has an OvnEip and ports, until it is not connected any more', async () => {
    await gateway('n1')
    await gateway('n2')
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(2)
    const eip = await cluster.client.get(ovnEipResource, { name: 'red-external' })
    expect(eip?.spec).toMatchObject({ externalSubnet: 'external', type: 'lrp', v4Ip: '10.5.204.1' })
    expect(eip?.status).toMatchObject({ ready: true, type: 'lrp', v4Ip: '10.5.204.1', v6Ip: 'fd00:5::1' })
    expect(control.named('Logical_Router_Port', 'red-external')).toMatchObject({
      mac: eip?.status?.macAddress,
      networks: ['10.5.204.1/24', 'fd00:5::1/120'],
      external_ids: { lr: 'red', vendor: 'kube-ovn' },
    })
    expect(control.named('Logical_Switch_Port', 'external-red')).toMatchObject({
      type: 'router',
      options: { 'router-port': 'red-external' },
    })
    expect(hosts(control)).toEqual(bothHosts)
    expect(control.named('Logical_Router', 'red')?.options).not.toHaveProperty(
      'always_learn_from_arp_request',
    )
    expect(await status()).toMatchObject({ enableExternal: true })
    expect((await status())?.conditions ?? []).toEqual([])
    await cluster.user.edit(vpcResource, 'red', { enableExternal: false })
    await control.settle()
    expect(await eips()).toEqual([])
    expect(hosts(control)).toEqual([])
    expect(control.portsOf('Logical_Switch', 'external')).toEqual(['external-ovn-cluster'])
    expect(await status()).toMatchObject({ enableExternal: false })
    expect(control.problems()).toEqual([])
  })

  it('costs nothing in a restart, and is put right when somebody changes it', async () => {
    await gateway('n1')
    await gateway('n2')
    const { northbound } = cluster
    await using first = await cluster.startSettled()
    await make()
    await first.settle()
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    const before = control.named('Logical_Router_Port', 'red-external')
    await northbound.nbctl('lsp-add', 'external', 'stranger')
    await northbound.nbctl('lsp-del', 'external-red')
    await northbound.nbctl('set', 'Logical_Router_Port', 'red-external', 'networks=10.9.9.9/24')
    await northbound.nbctl('lrp-del-gateway-chassis', 'red-external', 'chassis-n1')
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toEqual([
      ...['external-ovn-cluster', 'external-red', 'stranger'],
    ])
    expect(control.named('Logical_Router_Port', 'red-external')?.networks).toEqual(before?.networks)
    expect(hosts(control)).toEqual(bothHosts)
  })

  it('stays so whatever its OvnEip is edited to, which says that it can not follow', async () => {
    await gateway('n1')
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, subnet({ name: 'second', cidrBlock: '10.5.205.0/24' }))
    await make()
    await control.settle()
    const seen = () => [control.named('Logical_Router_Port', 'red-external'), hosts(control)]
    const [before, uid] = [seen(), await uidOfEip()]
    for (const slip of [{ type: 'nat' }, { type: 'lrp', externalSubnet: 'second' }]) {
      await cluster.user.edit(ovnEipResource, 'red-external', slip)
      await control.settle()
      expect([seen(), await uidOfEip()]).toEqual([before, uid])
      expect((await status())?.conditions ?? []).toEqual([])
    }
    expect((await cluster.user.told('red-external')).join()).toMatch(/spec\.type.*spec\.externalSubnet/s)
  })

  it('is none while the OvnEip of its name is elsewhere, says so, and comes by itself', async () => {
    await gateway('n1')
    await cluster.client.create(subnetResource, subnet({ name: 'second', cidrBlock: '10.5.205.0/24' }))
    await cluster.client.create(
      ovnEipResource,
      ovnEip({ name: 'red-external', externalSubnet: 'second', type: 'lrp' }),
    )
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    expect(control.named('Logical_Router_Port', 'red-external')).toBeUndefined()
    const told = await cluster.user.told('red')
    expect(told).toEqual([
      'VpcInvalid: spec.enableExternal "external": delete the OvnEip red-external, which is in Subnet second, or create it anew with externalSubnet external',
    ])
    expect(await status()).toMatchObject({ enableExternal: false })
    await cluster.client.remove(ovnEipResource, { name: 'red-external' })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'red-external')?.networks).toContain('10.5.204.1/24')
    expect((await status())?.conditions).toEqual([])
  })

  it('follows the gateway nodes, and says when there is none', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    expect(await cluster.user.told('red')).toEqual([expect.stringContaining('there is no gateway node')])
    expect(control.named('Logical_Router_Port', 'red-external')).toBeUndefined()
    await gateway('n1')
    await control.settle()
    expect(hosts(control)).toEqual(['red-external-chassis-n1 100'])
    expect((await status())?.conditions).toEqual([])
    await gateway('n2')
    await control.settle()
    expect(hosts(control)).toEqual(bothHosts)
    await gateway('n2', null)
    await control.settle()
    expect(hosts(control)).toEqual(['red-external-chassis-n1 100'])
  })

  it('is none that is the default one, which says so for as long', async () => {
    await gateway('n1')
    await using control = await cluster.startSettled()
    const told = async () =>
      (await cluster.client.get(vpcResource, { name: 'ovn-cluster' }))?.status?.conditions?.find(
        ({ type, status: is }) => type === 'Validated' && is === 'False',
      )?.message
    const before = control.portsOf('Logical_Switch', 'external')
    const wishes = [
      [{ enableExternal: true }, 'spec.enableExternal'],
      [{ extraExternalSubnets: ['external'] }, 'spec.extraExternalSubnets[0]'],
    ] as const
    for (const [wish, field] of wishes) {
      await cluster.user.edit(vpcResource, 'ovn-cluster', wish)
      await control.settle()
      expect(await told()).toBe(
        `${field} "external": take it out: the default VPC has no connections yet; make a Vpc for what is to have one`,
      )
      expect([await eips(), hosts(control), control.portsOf('Logical_Switch', 'external')]).toEqual([
        [],
        [],
        before,
      ])
    }
    const about = await cluster.user.told('ovn-cluster')
    expect(about.filter((text) => text.includes('the default VPC has no connections yet'))).toHaveLength(2)
    await cluster.user.edit(vpcResource, 'ovn-cluster', { enableExternal: null, extraExternalSubnets: null })
    await control.settle()
    expect(await told()).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('goes in any order, and its addresses stay as long as it needs them', async () => {
    await gateway('n1')
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'external' })
    await cluster.client.remove(ovnEipResource, { name: 'red-external' })
    await control.settle()
    expect(await cluster.user.told('red-external')).toEqual([
      expect.stringContaining('the router of Vpc red'),
    ])
    expect(hosts(control)).toEqual(['red-external-chassis-n1 100'])
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(await eips()).toEqual([])
    expect(await cluster.client.get(vpcResource, { name: 'red' })).toBeUndefined()
    expect(await cluster.client.get(subnetResource, { name: 'external' })).toBeUndefined()
    expect(hosts(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })
})

it('connects a VPC to the subnets that it names, instead, and leaves what a user made', async () => {
  await gateway('n1')
  await cluster.client.create(subnetResource, subnet({ name: 'second', cidrBlock: '10.5.205.0/24' }))
  await using control = await cluster.startSettled()
  const own = { name: 'red-second', externalSubnet: 'second', type: 'lrp', v4Ip: '10.5.205.77' }
  await cluster.client.create(ovnEipResource, ovnEip(own))
  await make({ enableExternal: true, extraExternalSubnets: ['second'] })
  await control.settle()
  expect(await eips()).toEqual(['red-second lrp 10.5.205.77'])
  expect(control.named('Logical_Router_Port', 'red-second')?.networks).toEqual(['10.5.205.77/24'])
  expect(await status()).toMatchObject({ enableExternal: true, extraExternalSubnets: ['second'] })
  await cluster.user.edit(vpcResource, 'red', { extraExternalSubnets: ['external', 'second'] })
  await control.settle()
  expect(await eips()).toEqual(['red-external lrp 10.5.204.1', 'red-second lrp 10.5.205.77'])
  await cluster.user.edit(vpcResource, 'red', { extraExternalSubnets: [] })
  await control.settle()
  expect(control.named('Logical_Router_Port', 'red-second')).toBeUndefined()
  expect(await eips()).toEqual(['red-external lrp 10.5.204.1', 'red-second lrp 10.5.205.77'])
  expect(await status()).toMatchObject({ extraExternalSubnets: [] })
})

it.each([
  [{ enableExternal: true, extraExternalSubnets: ['nowhere'] }, '[0] "nowhere": create a Subnet'],
  [{ extraExternalSubnets: ['external'] }, 'set enableExternal, too'],
  [{ enableExternal: true, extraExternalSubnets: ['mine'] }, 'do not overlap those of subnet mine'],
] as const)('says what is wrong with %j', async (spec, cure) => {
  await gateway('n1')
  await using control = await cluster.startSettled()
  await make(spec)
  await cluster.client.create(subnetResource, subnet({ name: 'mine', cidrBlock: '10.30.0.0/24', vpc: 'red' }))
  await control.settle()
  const said = (await status())?.conditions?.find(({ type }) => type === 'Validated')
  expect(said).toMatchObject({ status: 'False', message: expect.stringContaining(cure) as string })
  expect(await eips()).toEqual([])
  await cluster.user.edit(vpcResource, 'red', { enableExternal: false, extraExternalSubnets: null })
  await control.settle()
  expect((await status())?.conditions).toEqual([])
})
