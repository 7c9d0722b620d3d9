import { namespaceAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vpcResource, type Vpc } from '@kube-ovn/kube-api'
import { namespaces, pods, statefulSets } from '@kube-ovn/kube-api/core'
import {
  namespace,
  pod,
  statefulSet,
  subnet,
  vpc,
  type SubnetFields,
  type VpcFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const nothing = { transactions: 0, writes: [] }

async function read(name: string): Promise<Vpc | undefined> {
  return cluster.client.get(vpcResource, { name })
}

async function make(fields: VpcFields): Promise<void> {
  await cluster.client.create(vpcResource, vpc(fields))
}

async function makeSubnet(fields: SubnetFields): Promise<void> {
  await cluster.client.create(subnetResource, subnet(fields))
}

async function makeNamespace(name: string): Promise<void> {
  await cluster.client.create(namespaces, namespace({ name }))
}

/** What the Vpc tells, as `type=status reason`. */
function toldBy(object: Vpc | undefined): readonly string[] {
  return (object?.status?.conditions ?? []).map(
    ({ type = '', status = '', reason = '' }) => `${type}=${status} ${reason}`,
  )
}

/** Names of whatever belongs to a VPC. */
function rowsOf(control: Controller, name: string): readonly string[] {
  return (['Logical_Router', 'Logical_Router_Port', 'Logical_Switch_Port', 'Address_Set'] as const)
    .flatMap((table) => control.rows(table, 'name').map((row) => row.name))
    .filter((row) => row.split(/[-.]/).includes(name))
}

const cidrBlock = '10.30.0.0/24,fd00:30::/120'

describe('two VPCs with one prefix', () => {
  beforeEach(async () => {
    for (const name of ['red', 'blue']) await makeNamespace(name)
  })

  it('have routers, subnets and pods of their own, and nothing in common', async () => {
    await using control = await cluster.startSettled()
    for (const name of ['red', 'blue']) {
      await make({ name, namespaces: [name] })
      await makeSubnet({ name: `${name}1`, vpc: name, namespaces: [name], cidrBlock })
    }
    await control.settle()
    // Of each, at most: its router, static routes, sets of prefixes, its switch, policies, and its load balancers on the switch. What is ready at one time is one.
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(12)
    for (const name of ['red', 'blue'])
      await cluster.client.create(pods, pod({ name: 'p', namespace: name, node: 'n1' }))
    await control.settle()
    for (const name of ['red', 'blue']) {
      expect(await cluster.user.annotationsOf({ name: 'p', namespace: name })).toMatchObject({
        [podAnnotations().ipAddress.key]: '10.30.0.2,fd00:30::2',
        [podAnnotations().logicalRouter.key]: name,
        [podAnnotations().logicalSwitch.key]: `${name}1`,
      })
      expect(control.portsOf('Logical_Switch', `${name}1`)).toEqual([`p.${name}`, `${name}1-${name}`].sort())
      expect((await read(name))?.status).toMatchObject({
        standby: true,
        default: false,
        router: name,
        subnets: [`${name}1`],
      })
      expect(toldBy(await read(name))).toEqual([])
      expect(rowsOf(control, name)).toHaveLength(6)
    }
    // Nodes are connected to the default VPC alone.
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual([])
    expect(control.rows('Port_Group', 'name').filter(({ name }) => /red|blue/.test(name))).toEqual([])
    expect(control.problems()).toEqual([])

    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(nothing)
  })

  it('take in and give up namespaces', async () => {
    await using control = await cluster.startSettled()
    const { key } = namespaceAnnotations.logicalSwitch
    const servedBy = async () =>
      (await cluster.client.get(namespaces, { name: 'red' }))?.metadata.annotations?.[key]
    await make({ name: 'red', namespaces: [] })
    await makeSubnet({ name: 'red1', vpc: 'red', namespaces: ['red'], cidrBlock })
    await control.settle()
    expect(await servedBy()).toBe('ovn-default')
    expect(await cluster.user.told('red1')).toEqual([
      expect.stringMatching(/^NamespaceOfOtherVpc: spec.namespaces "red": list them in spec.namespaces/),
    ])
    await cluster.user.edit(vpcResource, 'red', { namespaces: ['red'] })
    await control.settle()
    expect(await servedBy()).toBe('red1')
    await cluster.user.edit(vpcResource, 'red', { namespaces: ['red'], defaultSubnet: 'red2' })
    await makeSubnet({ name: 'red2', vpc: 'red', cidrBlock: '10.31.0.0/24' })
    await control.settle()
    expect(await servedBy()).toBe('red2,red1')
    expect((await read('red'))?.status?.defaultLogicalSwitch).toBe('red2')
    await cluster.user.edit(vpcResource, 'red', { namespaces: [], defaultSubnet: '' })
    await control.settle()
    expect(await servedBy()).toBe('ovn-default')
    expect((await read('red'))?.status?.defaultLogicalSwitch).toBeUndefined()
  })
})

describe('a subnet of a VPC with a slip in the name of that', () => {
  it('serves its namespaces all the same, and keeps what is kept for a member of a StatefulSet', async () => {
    await using control = await cluster.startSettled()
    await makeNamespace('red')
    await make({ name: 'red', namespaces: ['red'] })
    await makeSubnet({ name: 'red1', vpc: 'red', namespaces: ['red'], cidrBlock })
    const set = await cluster.client.create(statefulSets, statefulSet({ namespace: 'red' }))
    const { name, uid = '' } = set.metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }]
    const member = pod({ name: 'db-0', namespace: 'red', node: 'n1', ownerReferences })
    await cluster.client.create(pods, member)
    await control.settle()
    const address = await cluster.user.addressOf('db-0', 'red')
    await cluster.client.remove(pods, { namespace: 'red', name: 'db-0' }, { gracePeriodSeconds: 0 })
    await control.settle()
    await cluster.user.edit(subnetResource, 'red1', { vpc: 'rde' })
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'web', namespace: 'red', node: 'n1' }))
    await cluster.client.create(pods, member)
    await control.settle()
    const { logicalSwitch, ipAddress } = podAnnotations()
    expect(await cluster.user.annotationsOf({ name: 'web', namespace: 'red' })).toMatchObject({
      [logicalSwitch.key]: 'red1',
    })
    expect(await cluster.user.annotationsOf({ name: 'db-0', namespace: 'red' })).toMatchObject({
      [ipAddress.key]: address,
    })
  })
})

describe('the deletion of a VPC', () => {
  it('leaves no trace when its subnets went first', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'red' })
    await makeSubnet({ name: 'red1', vpc: 'red', cidrBlock })
    await control.settle()
    expect((await read('red'))?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await control.settle()
    expect((await read('red'))?.status?.subnets).toEqual([])
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(await read('red')).toBeUndefined()
    expect(rowsOf(control, 'red')).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('waits for its subnets and their pods, says so, and goes on by itself, whoever is restarted', async () => {
    {
      await using control = await cluster.startSettled()
      await make({ name: 'red' })
      await makeSubnet({ name: 'red1', vpc: 'red', cidrBlock })
      await cluster.user.createPod({
        name: 'p',
        annotations: { [podAnnotations().logicalSwitch.key]: 'red1' },
      })
      await control.settle()
      const before = rowsOf(control, 'red')
      await cluster.client.remove(vpcResource, { name: 'red' })
      await control.settle()
      expect(toldBy(await read('red'))).toEqual(['Error=True VpcInUse'])
      expect(await cluster.user.told('red')).toEqual([
        'VpcInUse: the VPC has the subnets red1: delete these first',
      ])
      await makeSubnet({ name: 'late', vpc: 'red', cidrBlock: '10.99.0.0/24' })
      await control.settle()
      expect(await cluster.user.told('late')).toEqual([
        expect.stringMatching(/^ValidateLogicalSwitchFailed: spec.vpc "red": .* it is being deleted$/),
      ])
      await cluster.client.remove(subnetResource, { name: 'red1' })
      await control.settle()
      expect(rowsOf(control, 'red')).toEqual(before)
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await using control = await cluster.startController()
    await cluster.removePod('p')
    await control.settle()
    expect(await read('red')).toBeUndefined()
    expect(rowsOf(control, 'red')).toEqual([])
    // Anew, it takes in what waited for it.
    await make({ name: 'red' })
    await control.settle()
    expect((await read('red'))?.status?.subnets).toEqual(['late'])
  })

  it('keeps the router of pods whose Vpc somebody forced away', async () => {
    {
      await using control = await cluster.startSettled()
      await make({ name: 'red' })
      await makeSubnet({ name: 'red1', vpc: 'red', cidrBlock })
      await control.settle()
      await cluster.client.remove(vpcResource, { name: 'red' })
      await cluster.client.patch(vpcResource, { name: 'red' }, 'application/merge-patch+json', {
        metadata: { finalizers: [] },
      })
      await control.settle()
      expect(control.named('Logical_Router', 'red')).toBeDefined()
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Router', 'red')).toBeDefined()
    expect(await cluster.user.told('red1')).toEqual([
      expect.stringContaining('spec.vpc "red": create a Vpc of this name'),
    ])
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await control.settle()
    expect(rowsOf(control, 'red')).toEqual([])
  })
})

describe('a subnet', () => {
  it('waits for its VPC, and can not leave it while somebody has an address', async () => {
    await using control = await cluster.startSettled()
    await makeSubnet({ name: 'red1', vpc: 'red', cidrBlock })
    await control.settle()
    expect(control.named('Logical_Switch', 'red1')).toBeUndefined()
    await make({ name: 'red' })
    await make({ name: 'blue' })
    await control.settle()
    expect(rowsOf(control, 'red')).toHaveLength(5)
    await cluster.user.createPod({ name: 'p', annotations: { [podAnnotations().logicalSwitch.key]: 'red1' } })
    await control.settle()
    await cluster.user.edit(subnetResource, 'red1', { vpc: 'blue' })
    await control.settle()
    expect(await cluster.user.told('red1')).toContainEqual(
      expect.stringContaining('spec.vpc "blue": put it back to red, or delete pod/default/p first'),
    )
    expect(control.named('Logical_Router_Port', 'red-red1')).toBeDefined()
    await cluster.removePod('p')
    await control.settle()
    expect(control.named('Logical_Router_Port', 'red-red1')).toBeUndefined()
    expect(control.named('Logical_Router_Port', 'blue-red1')).toBeDefined()
    expect((await read('red'))?.status?.subnets).toEqual([])
    expect((await read('blue'))?.status?.subnets).toEqual(['red1'])
  })

  it('is refused the name of a port that another one has', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'a' })
    await make({ name: 'a-b' })
    await makeSubnet({ name: 'b-c', vpc: 'a', cidrBlock })
    await control.settle()
    await makeSubnet({ name: 'c', vpc: 'a-b', cidrBlock: '10.31.0.0/24' })
    await control.settle()
    expect(await cluster.user.told('c')).toEqual([
      expect.stringMatching(/metadata.name "c": choose another name: .* a-b-c, that subnet b-c has$/),
    ])
    await cluster.client.remove(subnetResource, { name: 'b-c' })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'a-b-c')?.networks).toEqual(['10.31.0.1/24'])
  })
})

describe('rows of a VPC', () => {
  it('are back when somebody takes them away, and those of a foreign router stay', async () => {
    const { northbound } = cluster
    await northbound.nbctl(
      'lr-add',
      'foreign',
      '--',
      'lrp-add',
      'foreign',
      'foreign-p',
      '00:00:5e:00:53:01',
      '10.9.0.1/24',
    )
    await using control = await cluster.startSettled()
    await make({ name: 'red' })
    await makeSubnet({ name: 'red1', vpc: 'red', cidrBlock })
    await control.settle()
    const before = rowsOf(control, 'red')
    const { mac } = control.named('Logical_Router_Port', 'red-red1') ?? {}
    await northbound.nbctl('lr-del', 'red')
    await control.settle()
    expect(rowsOf(control, 'red')).toEqual(before)
    expect(control.named('Logical_Router_Port', 'red-red1')?.mac).toBe(mac)
    await northbound.nbctl('remove', 'Logical_Router', 'red', 'options', 'dynamic_neigh_routers')
    await northbound.nbctl('set', 'Logical_Router', 'red', 'options:theirs=kept')
    await control.settle()
    expect(control.named('Logical_Router', 'red')?.options).toMatchObject({
      dynamic_neigh_routers: 'true',
      theirs: 'kept',
    })
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(control.named('Logical_Router', 'foreign')?.ports).toHaveLength(1)
    expect(control.problems()).toEqual([])
  })

  it('stay while others put into its router what nobody here writes, and take it out again', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'red' })
    await control.settle()
    await cluster.forgetCosts()
    const { northbound } = cluster
    const translations = (): Promise<string> =>
      northbound.nbctl('--bare', '--columns=external_ip', 'list', 'NAT')
    await northbound.nbctl('lr-nat-add', 'red', 'snat', '192.0.2.1', '10.30.0.0/24')
    await control.settle()
    expect(await translations()).toBe('192.0.2.1')
    await northbound.nbctl('lr-nat-add', 'red', 'snat', '192.0.2.2', '10.31.0.0/24')
    await northbound.nbctl('lr-nat-del', 'red', 'snat', '10.30.0.0/24')
    await control.settle()
    expect(await translations()).toBe('192.0.2.2')
    await control[Symbol.asyncDispose]()

    await using again = await cluster.startController()
    await again.settle()
    expect(await translations()).toBe('192.0.2.2')
    expect(again.problems()).toEqual([])
  })

  it('are left alone if the router is of others', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'theirs', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } })
    await control.settle()
    expect(rowsOf(control, 'theirs')).toEqual([])
    expect(toldBy(await read('theirs'))).toEqual(['FieldsIgnored=True NotThereYet'])
  })

  it('of two VPCs whose names differ in dashes and dots are told apart', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'a-b' })
    await make({ name: 'a.b' })
    await control.settle()
    expect(control.rows('Address_Set', 'name').filter(({ name }) => name.startsWith('a.b.'))).toHaveLength(2)
    expect(toldBy(await read('a-b'))).toEqual([])
    expect(toldBy(await read('a.b'))).toEqual(['Validated=False VpcInvalid'])
    await cluster.client.remove(vpcResource, { name: 'a-b' })
    await control.settle()
    expect(toldBy(await read('a.b'))).toEqual([])
    expect(control.problems()).toEqual([])
  })
})
