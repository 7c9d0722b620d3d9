import { describe, expect, it } from 'vitest'
import { parseCidr } from '@kube-ovn/ip'
import type { SubnetIsolation } from '@kube-ovn/policy'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredAcls } from './desired.ts'

const open: SubnetIsolation = {
  subnet: 'blue',
  isReachedByNodes: true,
  logRate: undefined,
  stopsOpenConnections: true,
  families: [{ family: 4, cidr: '10.17.0.0/16', nodes: '100.64.0.0/16', allowed: [] }],
  isPrivate: false,
  allowsInside: false,
  rules: [],
}

const parent = { vendor: 'kube-ovn', parent: 'blue' }
/** Nothing is logged, and nothing waits for load balancers. */
const plain = { log: false, options: {} }
const into = { ...plain, direction: 'to-lport', tier: 2 }
const allow = { ...into, action: 'allow-related', external_ids: parent }
const own = (family: number, cidr: string) => ({
  row: `acl-private/blue/own/${family}`,
  priority: 1001,
  match: `ip${family}.src == ${cidr} && ip${family}.dst == ${cidr}`,
  ...allow,
})
const nodes = (family: number, cidr: string) => ({
  row: `acl-private/blue/nodes/${family}`,
  priority: 3000,
  match: `ip${family}.src == ${cidr}`,
  ...allow,
})
const nodeAddresses = (family: number) => ({
  row: `acl-private/blue/node-addresses/${family}`,
  priority: 1001,
  match: `ip${family}.src == $kube_ovn_nodes_ip${family}`,
  ...allow,
})
const drop = {
  row: 'acl-private/blue/drop',
  ...into,
  priority: 1000,
  match: 'ip',
  action: 'drop',
  ...{ name: 'blue', log: true, severity: 'warning', external_ids: parent },
}
const external_ids = { ...parent, subnet: 'blue' }
const dropsOne = {
  direction: 'to-lport',
  priority: 1002,
  match: 'ip4.src == 10.17.0.5',
  action: 'drop',
} as const
/** What brings connections that are open to rules that stop them. */
const passages = (direction: string) =>
  [0, 1].map((tier) => ({
    row: `acl-subnet/blue/tier-${tier}/${direction}/0/ip`,
    ...{ ...plain, direction, tier, priority: 0, match: 'ip', action: 'pass', external_ids },
  }))
const inside = 'ip4.src == 10.17.0.0/16 && ip4.dst == 10.17.0.0/16'
const inside6 = 'ip6.src == fd00:10:17::/112 && ip6.dst == fd00:10:17::/112'

describe('desiredAcls', () => {
  it.each<{ name: string; acls: Partial<SubnetIsolation>; rows: readonly object[] }>([
    { name: 'of a subnet that lets everything through are none', acls: {}, rows: [] },
    {
      name: 'of a private subnet let itself and the nodes in, each family by a row of its own',
      acls: {
        isPrivate: true,
        families: [
          { family: 4, cidr: '10.17.0.0/16', nodes: '100.64.0.0/16', allowed: [] },
          { family: 6, cidr: 'fd00:10:17::/112', nodes: 'fd00:100:64::/112', allowed: [] },
        ],
      },
      rows: [
        drop,
        own(4, '10.17.0.0/16'),
        nodes(4, '100.64.0.0/16'),
        nodeAddresses(4),
        own(6, 'fd00:10:17::/112'),
        nodes(6, 'fd00:100:64::/112'),
        nodeAddresses(6),
        ...passages('to-lport'),
      ],
    },
    {
      name: 'of a private subnet of IPv6 alone let in the same, and what it allows',
      acls: {
        isPrivate: true,
        families: [
          {
            ...{ family: 6, cidr: 'fd00:10:17::/112', nodes: 'fd00:100:64::/112' },
            allowed: [parseCidr('fd00:10:16::/112')],
          },
        ],
      },
      rows: [
        drop,
        own(6, 'fd00:10:17::/112'),
        nodes(6, 'fd00:100:64::/112'),
        nodeAddresses(6),
        {
          row: 'acl-private/blue/allow/fd00:10:16::/112',
          priority: 1001,
          match:
            '(ip6.src == fd00:10:17::/112 && ip6.dst == fd00:10:16::/112) || (ip6.src == fd00:10:16::/112 && ip6.dst == fd00:10:17::/112)',
          ...allow,
        },
        ...passages('to-lport'),
      ],
    },
    {
      name: 'let traffic inside pass in both families',
      acls: {
        rules: [{ ...dropsOne, match: 'ip6.src == fd00:10:17::5' }],
        allowsInside: true,
        families: [
          { family: 4, cidr: '10.17.0.0/16', nodes: undefined, allowed: [] },
          { family: 6, cidr: 'fd00:10:17::/112', nodes: undefined, allowed: [] },
        ],
      },
      rows: [
        {
          row: 'acl-subnet/blue/to-lport/1002/ip6.src == fd00:10:17::5',
          ...{ ...plain, ...dropsOne, match: 'ip6.src == fd00:10:17::5', tier: 2, external_ids },
        },
        ...[inside, inside6].flatMap((match) =>
          ['to-lport', 'from-lport'].map((direction) => ({
            row: `acl-subnet/blue/${direction}/1900/${match}`,
            ...{ ...plain, direction, priority: 1900, match, action: 'allow', tier: 2, external_ids },
          })),
        ),
        ...passages('to-lport'),
      ],
    },
    {
      name: 'of a private subnet let in what it allows, once, whatever its host bits',
      acls: {
        isPrivate: true,
        families: [
          {
            ...{ family: 4, cidr: '10.17.0.0/16', nodes: undefined },
            allowed: ['10.16.0.0/16', '10.16.3.4/16'].map((text) => parseCidr(text)),
          },
        ],
      },
      rows: [
        drop,
        own(4, '10.17.0.0/16'),
        nodeAddresses(4),
        {
          row: 'acl-private/blue/allow/10.16.0.0/16',
          priority: 1001,
          match:
            '(ip4.src == 10.17.0.0/16 && ip4.dst == 10.16.0.0/16) || (ip4.src == 10.16.0.0/16 && ip4.dst == 10.17.0.0/16)',
          ...allow,
        },
        ...passages('to-lport'),
      ],
    },
    {
      name: 'of a private subnet of a custom VPC let in no address of a node, which may be that of a pod there',
      acls: { isPrivate: true, isReachedByNodes: false },
      rows: [drop, own(4, '10.17.0.0/16'), nodes(4, '100.64.0.0/16'), ...passages('to-lport')],
    },
    {
      name: 'have the rules of the user as they are',
      acls: { rules: [dropsOne] },
      rows: [
        {
          row: 'acl-subnet/blue/to-lport/1002/ip4.src == 10.17.0.5',
          ...plain,
          ...dropsOne,
          tier: 2,
          external_ids,
        },
        ...passages('to-lport'),
      ],
    },
    {
      name: 'let traffic inside pass by the rules, both ways',
      acls: { rules: [dropsOne], allowsInside: true },
      rows: [
        {
          row: 'acl-subnet/blue/to-lport/1002/ip4.src == 10.17.0.5',
          ...plain,
          ...dropsOne,
          tier: 2,
          external_ids,
        },
        ...['to-lport', 'from-lport'].map((direction) => ({
          row: `acl-subnet/blue/${direction}/1900/${inside}`,
          ...{ ...plain, direction, priority: 1900, match: inside, action: 'allow', tier: 2, external_ids },
        })),
        ...passages('to-lport'),
      ],
    },
    {
      name: 'let nothing pass by rules that are not there',
      acls: { allowsInside: true },
      rows: [],
    },
    {
      name: 'go by the user where allowEWTraffic says otherwise',
      acls: {
        rules: [{ direction: 'from-lport', priority: 1900, match: inside, action: 'drop' }],
        allowsInside: true,
      },
      rows: [
        {
          row: `acl-subnet/blue/from-lport/1900/${inside}`,
          ...{
            ...plain,
            direction: 'from-lport',
            priority: 1900,
            match: inside,
            action: 'drop',
            tier: 2,
            external_ids,
          },
        },
        {
          row: `acl-subnet/blue/to-lport/1900/${inside}`,
          ...{
            ...plain,
            direction: 'to-lport',
            priority: 1900,
            match: inside,
            action: 'allow',
            tier: 2,
            external_ids,
          },
        },
        ...passages('from-lport'),
      ],
    },
  ])('$name', ({ acls, rows }) => {
    const desired = desiredAcls({ ...open, ...acls })
    expect(shownRows(desired)).toEqual(rows)
    expect(shownMembers(desired)).toEqual(shownRows(desired).map(({ row }) => `ls/blue acls: ${String(row)}`))
  })

  it('has what it drops because it is private logged no more often than is wanted', () => {
    const desired = desiredAcls({ ...open, isPrivate: true, logRate: 50 })
    const meter = 'blue_private_meter'
    const marks = { external_ids: { vendor: 'kube-ovn' } }
    expect(shownRows(desired)).toEqual(
      expect.arrayContaining([
        { ...drop, meter },
        { row: 'meter-private/blue/drop', name: meter, unit: 'pktps', ...marks },
        { row: 'meter-band-private/blue/drop', action: 'drop', rate: 50, burst_size: 1, ...marks },
      ]),
    )
    expect(shownMembers(desired)).toContain('meter-private/blue/drop bands: meter-band-private/blue/drop')
    // Of what is not private nothing is logged.
    expect(desiredAcls({ ...open, logRate: 50 })).toEqual(desiredAcls(open))
  })

  it('has a name of at most 63 characters, as OVN wants it', () => {
    const subnet = 'x'.repeat(70)
    const [row] = shownRows(desiredAcls({ ...open, subnet, isPrivate: true }))
    expect(row?.['name']).toBe(`${'x'.repeat(60)}...`)
  })
})
