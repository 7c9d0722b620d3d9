import { subnetResource, type Subnet, type SubnetSpec } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2', 'n3'))

const central: SubnetSpec = { gatewayType: 'centralized', gatewayNode: 'n1,n2' }

async function make(spec: SubnetSpec): Promise<void> {
  const cidrBlock = '10.17.0.0/16,fd00:10:17::/112'
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock, ...spec }))
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
  await control.settle()
}

async function read(): Promise<Subnet['status']> {
  return (await cluster.client.get(subnetResource, { name: 'blue' }))?.status
}

async function readyOf(): Promise<string> {
  const found = (await read())?.conditions?.find(({ type }) => type === 'Ready')
  return [found?.status, found?.reason, found?.message].filter(Boolean).join(' ')
}

async function setReady(control: Controller, name: string, status: 'True' | 'False'): Promise<void> {
  const change = { status: { conditions: [{ type: 'Ready', status }] } }
  await cluster.client.patch(nodes, { name }, 'application/merge-patch+json', change, {
    subresource: 'status',
  })
  await control.settle()
}

/** Policies of the subnet, as `match → next hops`, and its groups. */
function waysOut(control: Controller): readonly string[] {
  const policies = control
    .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops')
    .filter(({ priority, match }) => priority === 29_000 && /10\.17\.|fd00:10:17:|blue/.test(match))
    .map(({ match, nexthops }) => `${match} → ${nexthops.toSorted().join(' ')}`)
  const groups = control.rows('Port_Group', 'name', 'ports').filter(({ name }) => name.startsWith('blue.'))
  return [...policies, ...groups.map(({ name, ports }) => `${name} ${ports.length}`)].toSorted()
}

const by = (v4: string, v6: string) => [
  `ip4.src == 10.17.0.0/16 → ${v4}`,
  `ip6.src == fd00:10:17::/112 → ${v6}`,
]
/** Three nodes, each with an address of both families. */
const roundOfAll = 6
const addressesOfN1 = ['100.64.0.2', 'fd00:100:64::2']

/** Nodes that answer at all addresses but those that are gone. */
function neighbours() {
  const gone = new Set<string>()
  const asked: string[] = []
  async function askNode(address: string): Promise<boolean> {
    asked.push(address)
    return Promise.resolve(!gone.has(address))
  }
  return { gone, asked, askNode }
}

const byN1 = by('100.64.0.2', 'fd00:100:64::2')
const byN2 = by('100.64.0.3', 'fd00:100:64::3')

describe('a centralized gateway', () => {
  it('is one node until it fails, and does not go back', async () => {
    await using control = await cluster.startSettled()
    await make(central)
    await control.settle()
    expect(waysOut(control)).toEqual(byN1)
    expect(await read()).toMatchObject({ activateGateway: 'n1', egress: { active: ['n1'] } })
    await cluster.forgetCosts()
    await setReady(control, 'n1', 'False')
    expect(waysOut(control)).toEqual(byN2)
    expect((await cluster.costs()).transactions).toBe(1)
    expect((await read())?.activateGateway).toBe('n2')
    await setReady(control, 'n1', 'True')
    expect(waysOut(control)).toEqual(byN2)
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(waysOut(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('stays where it was while no node is ready, says so, and recovers by itself', async () => {
    await using control = await cluster.startSettled()
    await make(central)
    await control.settle()
    await setReady(control, 'n1', 'False')
    await setReady(control, 'n2', 'False')
    expect(waysOut(control)).toEqual(byN2)
    expect(await readyOf()).toMatch(/^False NoActiveGatewayFound spec\.gatewayNode "n1,n2": make one/)
    expect(await cluster.user.told('blue')).toHaveLength(1)
    await setReady(control, 'n1', 'True')
    expect(waysOut(control)).toEqual(byN1)
    expect(await readyOf()).toMatch(/^True /)
  })

  it('is all ready nodes at once where they share the traffic', async () => {
    await using control = await cluster.startSettled()
    await make({ ...central, enableEcmp: true })
    await control.settle()
    expect(waysOut(control)).toEqual(by('100.64.0.2 100.64.0.3', 'fd00:100:64::2 fd00:100:64::3'))
    expect((await read())?.activateGateway).toBeUndefined()
    await setReady(control, 'n2', 'False')
    expect(waysOut(control)).toEqual(byN1)
    await edit(control, { enableEcmp: null })
    expect((await read())?.activateGateway).toBe('n1')
    await cluster.client.remove(nodes, { name: 'n1' })
    await setReady(control, 'n2', 'True')
    expect(waysOut(control)).toEqual(byN2)
  })

  it('leaves a node that answers no more while others do, long before the cluster knows', async () => {
    const { gone, asked, askNode } = neighbours()
    await using control = await cluster.startSettled({ askNode })
    await make(central)
    await control.settle()
    expect(waysOut(control)).toEqual(byN1)
    await expect.poll(() => asked.length).toBeGreaterThan(roundOfAll)
    await cluster.forgetCosts()
    for (const address of addressesOfN1) gone.add(address)
    await expect.poll(() => waysOut(control)).toEqual(byN2)
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect((await read())?.activateGateway).toBe('n2')
    await expect.poll(() => cluster.user.told('n1')).toContainEqual(expect.stringMatching(/^GatewaySilent: /))
    gone.clear()
    await expect
      .poll(() => cluster.user.told('n1', 'Normal'))
      .toContainEqual(expect.stringMatching(/^GatewayAnswers: /))
    await control.settle()
    expect(waysOut(control)).toEqual(byN2)
    expect(control.problems()).toEqual([])
  })

  it('is shared by nodes that answer, and by those that do so again', async () => {
    const { gone, asked, askNode } = neighbours()
    await using control = await cluster.startSettled({ askNode })
    await make({ ...central, enableEcmp: true })
    await control.settle()
    const both = by('100.64.0.2 100.64.0.3', 'fd00:100:64::2 fd00:100:64::3')
    expect(waysOut(control)).toEqual(both)
    await expect.poll(() => asked.length).toBeGreaterThan(roundOfAll)
    for (const address of addressesOfN1) gone.add(address)
    await expect.poll(() => waysOut(control)).toEqual(byN2)
    gone.clear()
    await expect.poll(() => waysOut(control)).toEqual(both)
  })

  it('asks nobody while there is no choice', async () => {
    const { asked, askNode } = neighbours()
    await using control = await cluster.startSettled({ askNode })
    await make({ ...central, gatewayNode: 'n1' })
    await control.settle()
    expect(asked).toEqual([])
    await edit(control, { gatewayNode: 'n1,n2' })
    await expect.poll(() => new Set(asked).size).toBe(roundOfAll)
  })

  it('shares the traffic of all subnets by the flag', async () => {
    await using control = await cluster.startController({ flags: { enableEcmp: true } })
    await control.settle()
    await make(central)
    await control.settle()
    expect(waysOut(control)).toEqual(by('100.64.0.2 100.64.0.3', 'fd00:100:64::2 fd00:100:64::3'))
    // What a manifest does not say stays unsaid.
    const { spec } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
    expect(spec).not.toHaveProperty('enableEcmp')
  })

  it('is chosen by labels, also by those that come later', async () => {
    await using control = await cluster.startSettled()
    await make({ gatewayType: 'centralized', gatewayNodeSelectors: [{ matchLabels: { egress: 'true' } }] })
    await control.settle()
    expect(await readyOf()).toMatch(/^False NoReadyGateway spec\.gatewayNodeSelectors .* label nodes/)
    const label = { metadata: { labels: { egress: 'true' } } }
    await cluster.client.patch(nodes, { name: 'n2' }, 'application/merge-patch+json', label)
    await control.settle()
    expect(waysOut(control)).toEqual(byN2)
    expect(await readyOf()).toMatch(/^True /)
  })

  it('takes the place of a distributed one and gives it back, with the pods', async () => {
    await using control = await cluster.startSettled()
    await make({})
    await control.settle()
    await cluster.user.createPod({ name: 'web', annotations: { 'ovn.kubernetes.io/logical_switch': 'blue' } })
    await control.settle()
    const distributed = waysOut(control)
    expect(distributed).toHaveLength(9)
    expect(distributed).toContain('blue.n1 1')
    await edit(control, { ...central, gatewayNode: 'gone' })
    expect(waysOut(control)).toEqual(distributed)
    expect(await readyOf()).toMatch(
      /^False NoReadyGateway spec\.gatewayNode "gone": name nodes that are there/,
    )
    await cluster.forgetCosts()
    await edit(control, { gatewayNode: 'gone,n2' })
    expect(waysOut(control)).toEqual(byN2)
    expect((await cluster.costs()).transactions).toBe(1)
    expect((await cluster.user.told('blue')).join()).toContain('GatewayNodeUnknown: spec.gatewayNode "gone"')
    await edit(control, { gatewayType: 'distributed' })
    expect(waysOut(control)).toEqual(distributed)
    const status = await read()
    expect([status?.activateGateway, status?.egress]).toEqual([undefined, undefined])
    expect((await cluster.client.get(subnetResource, { name: 'blue' }))?.spec?.gatewayNode).toBe('gone,n2')
  })

  it('stays as it is through an edit that can not be used, and through a restart in between', async () => {
    {
      await using control = await cluster.startSettled()
      await make(central)
      await control.settle()
      await setReady(control, 'n1', 'False')
      await edit(control, { gatewayNode: 'n3:garbage' })
      expect(await readyOf()).toMatch(/^False ValidateLogicalSwitchFailed spec\.gatewayNode "garbage"/)
      expect(waysOut(control)).toEqual(byN2)
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    expect(waysOut(control)).toEqual(byN2)
    await edit(control, { gatewayNode: 'n3' })
    expect(waysOut(control)).toEqual(by('100.64.0.4', 'fd00:100:64::4'))
  })

  it('comes back when somebody changes its policy or what the status says of it', async () => {
    await using control = await cluster.startSettled()
    await make(central)
    await control.settle()
    await cluster.northbound.nbctl('lr-policy-del', 'ovn-cluster', '29000', 'ip4.src == 10.17.0.0/16')
    const status = { activateGateway: 'n3', egress: { active: ['n3'] } }
    await cluster.client.patch(
      subnetResource,
      { name: 'blue' },
      'application/merge-patch+json',
      { status },
      { subresource: 'status' },
    )
    await control.settle()
    expect(waysOut(control)).toEqual(byN1)
    expect(await read()).toMatchObject({ activateGateway: 'n1', egress: { active: ['n1'] } })
  })
})

describe('a gateway outside of the cluster', () => {
  const outside = {
    externalEgressGateway: '192.168.0.1,fd00:192::1',
    policyRoutingPriority: 1001,
    policyRoutingTableID: 1001,
  }

  it('is told to the nodes, and leaves the rows as they are', async () => {
    await using control = await cluster.startSettled()
    await make(outside)
    await control.settle()
    expect((await read())?.egress).toEqual({
      ...{ nextHop: '192.168.0.1,fd00:192::1', rulePriority: 1001, routeTable: 1001 },
    })
    expect(waysOut(control)).toHaveLength(9)
    await edit(control, { externalEgressGateway: null })
    expect((await read())?.egress).toBeUndefined()
  })

  it('needs a route table of its own, and gets it once that is free', async () => {
    await using control = await cluster.startSettled()
    await make(outside)
    await control.settle()
    const other = subnet({
      name: 'a-later',
      cidrBlock: '10.19.0.0/16',
      ...outside,
      externalEgressGateway: '192.168.0.2',
    })
    await cluster.client.create(subnetResource, other)
    await control.settle()
    expect(await readyOf()).toMatch(/^True /)
    expect(await cluster.user.told('a-later')).toEqual([
      'RouteTableInUse: spec.policyRoutingTableID "1001": choose a route table that nobody else has: subnet blue has this one',
    ])
    await edit(control, { policyRoutingTableID: 1002 })
    const told = await cluster.client.get(subnetResource, { name: 'a-later' })
    expect(told?.status?.egress?.routeTable).toBe(1001)
  })
})
