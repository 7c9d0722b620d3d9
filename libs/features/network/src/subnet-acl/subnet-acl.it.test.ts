import {
  providerNetworkResource,
  subnetResource,
  vlanResource,
  vpcResource,
  type SubnetSpec,
} from '@kube-ovn/kube-api'
import { podAnnotations } from '@kube-ovn/annotations'
import { providerNetwork, subnet, vlan, vpc } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const nothing = { transactions: 0, writes: [] }
const dual = '10.17.0.0/16,fd00:10:17::/112'
const dropsOne = { direction: 'to-lport', priority: 1002, match: 'ip4.src == 10.17.0.5', action: 'drop' }
const ssh = {
  direction: 'from-lport',
  priority: 1005,
  match: 'ip6 && tcp.dst == 22',
  action: 'allow-related',
}

async function make(spec: SubnetSpec): Promise<void> {
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: dual, ...spec }))
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
  await control.settle()
}

async function conditionOf(type: string): Promise<string> {
  const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
  const found = status?.conditions?.find((condition) => condition.type === type)
  return [found?.status, found?.reason, found?.message].filter((part) => (part ?? '') !== '').join(' ')
}

/** The ACLs on the switch, as `direction priority match action`, with the identities of their rows. */
function acls(control: Controller): ReadonlyMap<string, string> {
  const on = new Set(control.named('Logical_Switch', 'blue')?.acls)
  return new Map(
    control
      .rows('ACL', '_uuid', 'direction', 'priority', 'match', 'action')
      .filter(({ _uuid }) => on.has(_uuid))
      .map((acl) => [`${acl.direction} ${acl.priority} ${acl.match} ${acl.action}`, acl._uuid] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function texts(control: Controller): readonly string[] {
  return [...acls(control).keys()]
}

const own = (family: number, cidr: string) =>
  `to-lport 1001 ip${family}.src == ${cidr} && ip${family}.dst == ${cidr} allow-related`
const isolated = [
  'to-lport 1000 ip drop',
  own(4, '10.17.0.0/16'),
  own(6, 'fd00:10:17::/112'),
  'to-lport 3000 ip4.src == 100.64.0.0/16 allow-related',
  'to-lport 3000 ip6.src == fd00:100:64::/112 allow-related',
  ...[4, 6].map((family) => `to-lport 1001 ip${family}.src == $kube_ovn_nodes_ip${family} allow-related`),
].sort()

describe('ACLs of a subnet', () => {
  it('are there all at once, follow edits row by row, and go with it', async () => {
    await using control = await cluster.startSettled()
    const seen: number[] = []
    using _watch = control.onNorthboundChange(() => {
      const found = control.named('Logical_Switch', 'blue')
      if (found !== undefined) seen.push(found.acls.length)
    })
    await make({ private: true, allowSubnets: ['10.16.0.0/16'] })
    await control.settle()
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(3)
    // They are there all together, with the switch or right after it.
    expect(seen.filter((count) => count !== 0 && count !== 8)).toEqual([])
    const allow16 =
      'to-lport 1001 (ip4.src == 10.17.0.0/16 && ip4.dst == 10.16.0.0/16) || (ip4.src == 10.16.0.0/16 && ip4.dst == 10.17.0.0/16) allow-related'
    expect(texts(control)).toEqual([...isolated, allow16].sort())
    expect(await conditionOf('Ready')).toContain('True SetPrivateLogicalSwitchSuccess')

    const before = acls(control)
    await cluster.forgetCosts()
    await edit(control, { allowSubnets: ['10.18.0.0/16'], acls: [dropsOne] })
    expect((await cluster.costs()).transactions).toBe(1)
    const after = acls(control)
    expect([...after.keys()].filter((text) => !before.has(text))).toEqual([
      expect.stringContaining('10.18.0.0/16'),
      'to-lport 1002 ip4.src == 10.17.0.5 drop',
    ])
    for (const text of isolated) expect(after.get(text)).toBe(before.get(text))
    expect(after.has(allow16)).toBe(false)

    // What is only done otherwise is the same row.
    await edit(control, { acls: [{ ...dropsOne, action: 'reject' }] })
    expect(acls(control).get('to-lport 1002 ip4.src == 10.17.0.5 reject')).toBe(
      after.get('to-lport 1002 ip4.src == 10.17.0.5 drop'),
    )
    await edit(control, { private: false, acls: [ssh], allowEWTraffic: true })
    expect(texts(control)).toEqual(
      [
        'from-lport 1005 ip6 && tcp.dst == 22 allow-related',
        ...['from-lport', 'to-lport'].flatMap((direction) => [
          `${direction} 1900 ip4.src == 10.17.0.0/16 && ip4.dst == 10.17.0.0/16 allow`,
          `${direction} 1900 ip6.src == fd00:10:17::/112 && ip6.dst == fd00:10:17::/112 allow`,
        ]),
      ].sort(),
    )
    await edit(control, { acls: [] })
    expect(texts(control)).toEqual([])
    await edit(control, { private: true })
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    // Those of the group that lets nothing through are no subnet's.
    expect(
      control.rows('ACL', 'external_ids').filter(({ external_ids }) => external_ids['parent'] === 'blue'),
    ).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('of another VPC let nodes in by the physical network alone', async () => {
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
    await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
    await using control = await cluster.startSettled()
    await make({ private: true, vpc: 'red' })
    await control.settle()
    expect(texts(control)).toEqual(isolated.filter((text) => !text.includes('$kube_ovn_nodes')))
    await edit(control, { vlan: 'v10' })
    expect(texts(control)).toEqual(isolated)
  })

  it('follow the prefix of the subnet', async () => {
    await using control = await cluster.startSettled()
    await make({
      cidrBlock: '10.17.0.0/16',
      private: true,
      allowSubnets: ['10.16.0.0/16', 'fd00:10:16::/112'],
    })
    await control.settle()
    expect(texts(control)).toHaveLength(5)
    const drop = acls(control).get('to-lport 1000 ip drop')
    await edit(control, { cidrBlock: dual, gateway: '' })
    expect(texts(control)).toHaveLength(9)
    await edit(control, { cidrBlock: '10.19.0.0/16', gateway: '', excludeIps: [] })
    expect(texts(control)).toContain(own(4, '10.19.0.0/16'))
    expect(texts(control)).toHaveLength(5)
    expect(acls(control).get('to-lport 1000 ip drop')).toBe(drop)
  })

  it('are left alone by a restart, put right when somebody changes them, and leave those of others alone', async () => {
    const made = await cluster.startSettled()
    await make({ private: true, acls: [dropsOne, ssh], allowEWTraffic: true })
    await made.settle()
    await cluster.northbound.nbctl(
      '--type=switch',
      'acl-add',
      'blue',
      'to-lport',
      '7',
      'ip4.src == 9.9.9.9',
      'drop',
    )
    await made.settle()
    await made[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    const before = texts(control)
    expect(before).toHaveLength(14)
    expect(before).toContain('to-lport 7 ip4.src == 9.9.9.9 drop')

    const { northbound } = cluster
    await northbound.nbctl('--type=switch', 'acl-del', 'blue', 'to-lport', '1000', 'ip')
    await northbound.nbctl('--type=switch', 'acl-del', 'blue', 'to-lport', '1002', 'ip4.src == 10.17.0.5')
    const { external_ids: _, ...sshRow } = { ...ssh, external_ids: {} }
    const uuid = acls(control).get(`from-lport 1005 ${sshRow.match} allow-related`) ?? ''
    await northbound.nbctl('set', 'ACL', uuid, 'action=drop')
    await control.settle()
    expect(texts(control)).toEqual(before)
    await edit(control, { private: false, acls: [] })
    expect(texts(control)).toEqual(['to-lport 7 ip4.src == 9.9.9.9 drop'])
  })

  it('log without limit, or as often as is wanted, and the limit goes with its switch', async () => {
    await make({ private: true })
    const meters = (control: Controller) =>
      control.rows('Meter', 'name', 'unit').filter(({ name }) => name.endsWith('_private_meter'))
    const bounds = (control: Controller) =>
      control.rows('ACL', 'log', 'meter').flatMap(({ log, meter }) => (log ? [meter] : []))
    const flags = { privateSubnetLogRate: 7 }
    {
      await using control = await cluster.startSettled({ flags })
      expect(meters(control)).toEqual([{ name: 'blue_private_meter', unit: 'pktps' }])
      expect(control.rows('Meter_Band', 'action', 'rate')).toEqual([{ action: 'drop', rate: 7 }])
      expect(bounds(control)).toEqual(['blue_private_meter'])
    }
    await cluster.forgetCosts()
    {
      await using control = await cluster.startController({ flags })
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await using control = await cluster.startSettled()
    expect([meters(control), bounds(control)]).toEqual([[], [undefined]])
  })

  it('that somebody edits wake nobody who looks at addresses', async () => {
    await using control = await cluster.startSettled()
    await make({ acls: [dropsOne] })
    const annotations = { [podAnnotations().logicalSwitch.key]: 'blue' }
    for (const name of ['a', 'b', 'c']) await cluster.user.createPod({ name, annotations })
    await control.settle()
    const from = control.logger.lines.length
    await edit(control, { acls: [{ ...dropsOne, action: 'allow' }] })
    const woken = control.logger.lines
      .slice(from)
      .filter(({ message }) => message === 'keys woken')
      .flatMap(({ fields }) => fields['keys'] as readonly string[])
    expect([...new Set(woken)].sort()).toEqual(['subnet-acl/blue', 'subnet/blue'])
    expect(woken.length).toBeLessThanOrEqual(3)
  })
})

describe('ACLs that can not be', () => {
  it.each<readonly [SubnetSpec, string, string]>([
    [{ acls: [{ ...dropsOne, match: 'ip4) || (1' }] }, 'spec.acls[0].match "ip4) || (1"', 'in place of )'],
    [{ acls: [ssh, { ...dropsOne, match: 'tcp.port == 80' }] }, 'spec.acls[1].match', 'the name of a field'],
    [
      { acls: [{ ...dropsOne, direction: 'in' }] },
      'spec.acls[0].direction "in"',
      'write from-lport or to-lport',
    ],
    [{ acls: [{ ...dropsOne, priority: 40_000 }] }, 'spec.acls[0].priority "40000"', 'from 0 to 32767'],
    [{ acls: [{ ...dropsOne, action: 'deny' }] }, 'spec.acls[0].action "deny"', 'drop, reject'],
    [
      { acls: [dropsOne, { ...dropsOne, action: 'allow' }] },
      'spec.acls[1].action "allow"',
      'says drop: remove one',
    ],
    [
      { private: true, allowSubnets: ['10.16.0.0/33'] },
      'spec.allowSubnets[0] "10.16.0.0/33"',
      'like 10.16.0.0/16',
    ],
    [{ acls: Array.from({ length: 1025 }, () => dropsOne) }, 'spec.acls "1025 entries"', 'at most 1024'],
  ])('are told with field, value and cure: %#', async (spec, field, cure) => {
    await using control = await cluster.startSettled()
    await make(spec)
    await control.settle()
    const told = await conditionOf('Validated')
    expect(told).toContain(`False ValidateLogicalSwitchFailed ${field}`)
    expect(told).toContain(cure)
    expect(await cluster.user.told('blue')).toEqual([
      told.replace('False ValidateLogicalSwitchFailed', 'ValidateLogicalSwitchFailed:'),
    ])
    // What lets in more than was meant is not even begun.
    expect(control.named('Logical_Switch', 'blue')).toBeUndefined()
    await edit(control, { acls: [dropsOne], allowSubnets: [] })
    expect(await conditionOf('Validated')).toMatch(/^True/)
    expect(texts(control)).toContain('to-lport 1002 ip4.src == 10.17.0.5 drop')
    expect(control.problems().filter((line) => !line.includes('subnet is invalid'))).toEqual([])
  })

  it('are in effect and told where OVN takes either of two of one priority', async () => {
    await using control = await cluster.startSettled()
    const at = { direction: 'to-lport', priority: 1002 }
    const drop = { ...at, match: 'ip4.src == 10.0.0.0/8', action: 'drop' }
    await make({
      acls: [
        drop,
        { ...at, match: 'ip6.src == fd00::/8', action: 'allow' },
        { ...at, match: 'tcp.dst == 22', action: 'allow-related' },
      ],
    })
    await control.settle()
    expect(await conditionOf('Ready')).toMatch(/^True/)
    expect(texts(control)).toHaveLength(3)
    const told =
      'AclsContradict: spec.acls[2].priority "1002" (that of spec.acls[0]): choose another one; OVN takes either action for packets that both are about'
    expect(await cluster.user.told('blue')).toEqual([told])
    await edit(control, { acls: [drop, { ...at, priority: 1003, match: 'tcp.dst == 22', action: 'allow' }] })
    expect(texts(control)).toHaveLength(2)
    expect(await cluster.user.told('blue')).toEqual([told])
  })

  it('leave in effect what was there, over a restart, too', async () => {
    const made = await cluster.startSettled()
    await make({ private: true, acls: [dropsOne] })
    await made.settle()
    const before = acls(made)
    await cluster.forgetCosts()
    await edit(made, { private: false, acls: [{ ...dropsOne, match: 'garbage' }] })
    expect((await cluster.costs()).transactions).toBe(0)
    expect(acls(made)).toEqual(before)
    await made[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(acls(control)).toEqual(before)
    await edit(control, { acls: [ssh] })
    expect(texts(control)).toEqual(['from-lport 1005 ip6 && tcp.dst == 22 allow-related'])
  })
})
