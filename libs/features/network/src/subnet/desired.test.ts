import { subnet } from '@kube-ovn/testing-builders'
import { parseIpList } from '@kube-ovn/ip'
import type { Subnet, SubnetSpec } from '@kube-ovn/kube-api'
import type { SubnetRule } from '@kube-ovn/policy'
import { describe, expect, it } from 'vitest'
import { controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { resolveSubnet, SubnetInvalidError, type Interconnection } from '@kube-ovn/domains-control/topology'
import { desiredSubnet } from './desired.ts'
import type { SubnetSnapshot } from './snapshot.ts'

const now = Date.UTC(2026, 0, 1)
const time = '2026-01-01T00:00:00Z'
const problem = new SubnetInvalidError({
  subnet: 'blue',
  field: 'spec.gateway',
  value: 'x',
  cure: 'write an address',
})
const told = 'spec.gateway "x": write an address'

function snapshot(
  cidrBlock: string,
  object: Subnet = withUid(subnet({ name: 'blue', cidrBlock })),
): SubnetSnapshot {
  const { network, normalised } = resolveSubnet('blue', { cidrBlock }, controlSettings())
  return {
    ...{ name: 'blue', object, builtIn: undefined, network, normalised, problem: undefined, now },
    ...{ inEffect: network, accepted: undefined, declined: undefined, canSayInEffect: true, observed: {} },
    ...{ isDeleting: false, holders: [], strayExcludes: [], contradictions: [], namespacesElsewhere: [] },
    ...{ gatewayProblem: undefined, unknownGateways: [] },
    ...{
      routerMac: '00:00:5e:00:53:fe',
      routeTable: undefined,
      querier: undefined,
      interconnection: undefined,
      answered: [],
    },
  }
}

/** Of a Subnet whose specification can not be used, and never could. */
function unusable(): SubnetSnapshot {
  return {
    ...snapshot('10.1.0.0/16'),
    network: undefined,
    inEffect: undefined,
    normalised: undefined,
    problem,
  }
}

function withUid(object: Subnet): Subnet {
  return { ...object, metadata: { ...object.metadata, uid: 'u1' } }
}

function conditionsOf(given: SubnetSnapshot): readonly unknown[] {
  const status = desiredSubnet(given).patches.find(({ subresource }) => subresource === 'status')?.merge?.[
    'status'
  ]
  return (status as { readonly conditions: readonly unknown[] }).conditions
}

function policy(family: 4 | 6, cidr: string) {
  return {
    row: `lrpol-subnet/blue/${family}`,
    priority: 31000,
    match: `ip${family}.dst == ${cidr}`,
    action: 'allow',
    external_ids: { vendor: 'kube-ovn', subnet: 'blue' },
  }
}

describe('desiredSubnet', () => {
  it('has the router answer for addresses that packets are led on from', () => {
    const given = { ...snapshot('10.1.0.0/16'), answered: ['10.1.0.5', '10.1.0.9', 'fd00:1::5'] }
    const port = shownRows(desiredSubnet(given)).find(({ row }) => row === 'lsp-lr/blue-ovn-cluster')
    expect(port?.options).toEqual({
      'router-port': 'ovn-cluster-blue',
      arp_proxy: '10.1.0.5 10.1.0.9 fd00:1::5',
    })
  })

  it.each([
    { cidrBlock: '10.1.0.0/16', networks: ['10.1.0.1/16'], policies: [policy(4, '10.1.0.0/16')] },
    { cidrBlock: 'fd00:1::/112', networks: ['fd00:1::1/112'], policies: [policy(6, 'fd00:1::/112')] },
    {
      cidrBlock: 'fd00:1::/112,10.1.0.0/16',
      networks: ['10.1.0.1/16', 'fd00:1::1/112'],
      policies: [policy(4, '10.1.0.0/16'), policy(6, 'fd00:1::/112')],
    },
  ])('is a switch on the router, for $cidrBlock', ({ cidrBlock, networks, policies }) => {
    const desired = desiredSubnet(snapshot(cidrBlock))
    expect(shownRows(desired)).toEqual([
      { row: 'ls/blue', name: 'blue', other_config: {}, external_ids: { vendor: 'kube-ovn' } },
      {
        row: 'lsp-lr/blue-ovn-cluster',
        name: 'blue-ovn-cluster',
        type: 'router',
        addresses: ['router'],
        options: { 'router-port': 'ovn-cluster-blue' },
        external_ids: { vendor: 'kube-ovn', ls: 'blue' },
      },
      {
        row: 'lrp/ovn-cluster-blue',
        name: 'ovn-cluster-blue',
        mac: '00:00:5e:00:53:fe',
        networks,
        options: {},
        external_ids: { vendor: 'kube-ovn', lr: 'ovn-cluster' },
      },
      ...policies,
    ])
    expect(shownMembers(desired)).toEqual([
      'ls/blue ports: lsp-lr/blue-ovn-cluster',
      'lr/ovn-cluster ports: lrp/ovn-cluster-blue',
      ...policies.map(({ row }) => `lr/ovn-cluster policies: ${row}`),
    ])
  })

  describe.each([
    { families: 'IPv4', cidrBlock: '10.1.0.0/16', own: '10.1.0.9', router: ['10.1.0.1/16'] },
    { families: 'IPv6', cidrBlock: 'fd00:1::/112', own: 'fd00:1::9', router: ['fd00:1::1/112'] },
    {
      families: 'both families',
      cidrBlock: '10.1.0.0/16,fd00:1::/112',
      own: '10.1.0.9,fd00:1::9',
      router: ['10.1.0.1/16', 'fd00:1::1/112'],
    },
  ])('of a VLAN, $families', ({ cidrBlock, own, router }) => {
    function rowsOf(spec: SubnetSpec, more: Partial<SubnetSnapshot> = {}) {
      const { network, normalised } = resolveSubnet(
        'blue',
        { cidrBlock, vlan: 'v10', ...spec },
        controlSettings(),
      )
      const given = { ...snapshot(cidrBlock), network, normalised, inEffect: network, ...more }
      const rows = shownRows(desiredSubnet(given))
      return rows.map(({ row, networks }) => [row, ...((networks ?? []) as readonly string[])].join(' '))
    }
    const cidrs = cidrBlock.split(',')
    const policies = cidrs.map((cidr) => `lrpol-subnet/blue/${cidr.includes(':') ? 6 : 4}`)

    it('has a gateway of the physical network, and no router of ours', () => {
      expect(rowsOf({}, { routerMac: undefined })).toEqual(['ls/blue'])
    })

    it('has a router of ours in the place of that where it is asked for', () => {
      expect(rowsOf({ logicalGateway: true })).toEqual([
        ...['ls/blue', 'lsp-lr/blue-ovn-cluster'],
        ['lrp/ovn-cluster-blue', ...router].join(' '),
        ...policies,
      ])
    })

    it('has a router beside that by addresses of its own, and what leads there is said elsewhere', () => {
      const interconnection = { addresses: parseIpList(own), mac: '00:00:5e:00:53:09' } as Interconnection
      const networks = own
        .split(',')
        .map((address, index) => `${address}/${cidrs[index]?.split('/').at(-1) ?? ''}`)
      expect(rowsOf({ u2oInterconnection: true }, { interconnection })).toEqual([
        ...['ls/blue', 'lsp-lr/blue-ovn-cluster'],
        ['lrp/ovn-cluster-blue', ...networks].join(' '),
      ])
    })
  })

  it('asks who listens to groups of multicast as it is told', () => {
    const querier = { mac: '00:00:5e:00:53:07', v4: '10.1.0.8', v6: 'fe80::8' }
    const given = { ...snapshot('10.1.0.0/16'), querier }
    const [ls] = shownRows(desiredSubnet(given))
    expect(ls?.other_config).toEqual({
      ...{ mcast_snoop: 'true', mcast_querier: 'true' },
      ...{ mcast_eth_src: querier.mac, mcast_ip4_src: querier.v4, mcast_ip6_src: querier.v6 },
    })
  })

  it('is on the router of its VPC, and looks into the route table that it names', () => {
    const { network, normalised } = resolveSubnet(
      'blue',
      { cidrBlock: '10.1.0.0/16', vpc: 'red', default: true },
      controlSettings(),
    )
    const given = { ...snapshot('10.1.0.0/16'), network, normalised, inEffect: network, routeTable: 't1' }
    const desired = desiredSubnet(given)
    expect(shownRows(desired)).toContainEqual(
      expect.objectContaining({ row: 'lrp/red-blue', options: { route_table: 't1' } }),
    )
    expect(shownMembers(desired)).toContain('lr/red ports: lrp/red-blue')
    expect(normalised).toMatchObject({ vpc: 'red', default: true })
    expect(normalised).not.toHaveProperty('gatewayType')
  })

  it('has our finalizer in place of the old one, beside those of others', () => {
    const finalizers = ['kube-ovn-controller', 'example.com/other']
    const [object] = shownPatches(
      desiredSubnet(snapshot('10.1.0.0/16', withUid(subnet({ name: 'blue', finalizers })))),
    )
    expect(object).toMatchObject({
      metadata: { finalizers: ['example.com/other', 'kubeovn.io/kube-ovn-controller'] },
    })
  })

  it('keeps its rows, and tells why, while its specification can not be used', () => {
    const given = unusable()
    const desired = desiredSubnet(given)
    expect(desired).toMatchObject({ hold: true, problem, rows: [] })
    expect(desired.events).toMatchObject([
      {
        type: 'Warning',
        reason: 'ValidateLogicalSwitchFailed',
        message: told,
        regarding: { name: 'blue', uid: 'u1' },
      },
    ])
    const reason = 'ValidateLogicalSwitchFailed'
    const times = { lastUpdateTime: time, lastTransitionTime: time }
    expect(conditionsOf(given)).toEqual([
      { type: 'Validated', status: 'False', reason, message: told, ...times },
      { type: 'Ready', status: 'False', reason, message: told, ...times },
      { type: 'Error', status: 'True', reason, message: told, ...times },
    ])
  })

  it('tells by where they stand which of its rules contradict each other, and no more of them than are read', () => {
    const acls = Array.from({ length: 20 }, (_, index) => ({
      ...{ direction: 'to-lport', priority: 5, match: `tcp.dst == ${index}` },
      action: index === 0 ? 'drop' : 'allow',
    })) as readonly SubnetRule[]
    const [other, ...rules] = acls as readonly [SubnetRule, ...SubnetRule[]]
    const [event, ...further] = desiredSubnet({
      ...snapshot('10.1.0.0/16', withUid(subnet({ name: 'blue', acls }))),
      contradictions: rules.map((rule) => ({ rule, other })),
    }).events
    expect(event).toMatchObject({ type: 'Warning', reason: 'AclsContradict' })
    expect(event?.message.startsWith('spec.acls[1].priority "5" (that of spec.acls[0]), spec.acls[2].')).toBe(
      true,
    )
    expect(event?.message).toContain('spec.acls[8].')
    expect(event?.message).not.toContain('spec.acls[9].')
    expect(event?.message).toMatch(
      /: choose another one; OVN takes either action for packets that both are about$/,
    )
    expect(further).toEqual([])
  })

  it('writes the very same conditions again, and no event, when nothing has changed', () => {
    const bad = unusable()
    for (const given of [bad, snapshot('10.1.0.0/16')]) {
      const conditions = conditionsOf(given) as NonNullable<NonNullable<Subnet['status']>['conditions']>
      const later = {
        ...given,
        object: withUid(subnet({ name: 'blue', status: { conditions } })),
        now: now + 3_600_000,
      }
      expect(conditionsOf(later)).toEqual(conditions)
      expect(desiredSubnet(later).events).toEqual([])
    }
  })

  it('clears the error when it recovers', () => {
    const bad = unusable()
    const conditions = conditionsOf(bad) as NonNullable<NonNullable<Subnet['status']>['conditions']>
    const good = snapshot('10.1.0.0/16', withUid(subnet({ name: 'blue', status: { conditions } })))
    expect(conditionsOf(good)).toMatchObject([
      { type: 'Validated', status: 'True' },
      { type: 'Ready', status: 'True' },
      { type: 'Error', status: 'False' },
    ])
  })

  it('stays for as long as an address is in use, and then lets go', () => {
    const finalizers = ['kubeovn.io/kube-ovn-controller', 'example.com/other']
    const object = withUid(subnet({ name: 'blue', finalizers, deletionTimestamp: time }))
    const deleting = { ...snapshot('10.1.0.0/16', object), isDeleting: true }
    const waiting = desiredSubnet({ ...deleting, holders: ['pod/shop/a'] })
    expect(shownRows(waiting)).toHaveLength(4)
    expect(shownPatches(waiting)[0]).not.toHaveProperty('metadata')
    const going = desiredSubnet(deleting)
    expect(shownRows(going)).toEqual([])
    expect(shownPatches(going)).toEqual([
      { object: 'subnets/blue', metadata: { finalizers: ['example.com/other'] } },
    ])
  })
})
