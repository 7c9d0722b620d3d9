import { parseCidr, parseIp } from '@kube-ovn/ip'
import type { VpcRoute } from '@kube-ovn/domains-control/topology'
import { claimOf } from '@kube-ovn/domains-control/testing/vpcs'
import { describe, expect, it } from 'vitest'
import { desiredRoutes, type RoutedPrefix, type RoutesSnapshot } from './desired.ts'

/** Routes as a user writes them: `prefix next-hop [table]`, a source behind `src`. */
function routes(...lines: readonly string[]): readonly VpcRoute[] {
  const staticRoutes = lines.map((line) => {
    const words = line.split(' ')
    const isSource = words[0] === 'src'
    const [cidr = '', nextHopIP = '', routeTable = ''] = isSource ? words.slice(1) : words
    return { cidr, nextHopIP, routeTable, ...(isSource ? { policy: 'policySrc' } : {}) }
  })
  const { routes: read, problems } = claimOf({ metadata: { name: 'v1' }, spec: { staticRoutes } })
  expect(problems).toEqual([])
  return read
}

function prefixes(...lines: readonly string[]): readonly RoutedPrefix[] {
  return lines.map((line) => {
    const [cidr = '', gateway = '', table = ''] = line.split(' ')
    return { cidr: parseCidr(cidr), gateway: parseIp(gateway), table }
  })
}

/** Rows as `table policy prefix next-hop`. */
function shown(snapshot: Partial<RoutesSnapshot>): readonly string[] {
  const { rows, members } = desiredRoutes({
    ...{ vpc: 'v1', routes: [], policyHops: [], nodeHops: [], prefixes: [], externals: [] },
    ...snapshot,
  })
  expect(members).toHaveLength(rows.length)
  return rows.map(({ columns }) =>
    ['route_table', 'policy', 'ip_prefix', 'nexthop']
      .map((column) => columns[column] as string)
      .join(' ')
      .trim(),
  )
}

const subnet = prefixes('10.30.0.0/24 10.30.0.1', 'fd00:30::/112 fd00:30::1')
const nodes = [parseIp('100.64.0.1'), parseIp('fd00:64::1')]

describe('desiredRoutes', () => {
  it.each<{
    readonly name: string
    readonly given: Partial<RoutesSnapshot>
    readonly want: readonly string[]
  }>([
    { name: 'nothing for nothing', given: {}, want: [] },
    {
      name: 'what comes from a subnet and has no other way',
      given: { prefixes: subnet },
      want: ['src-ip 10.30.0.0/24 10.30.0.1', 'src-ip fd00:30::/112 fd00:30::1'],
    },
    {
      name: 'no way of its own beside a default route, of the same family alone',
      given: { prefixes: subnet, routes: routes('0.0.0.0/0 10.30.0.254') },
      want: ['dst-ip 0.0.0.0/0 10.30.0.254', 'src-ip fd00:30::/112 fd00:30::1'],
    },
    {
      name: 'any destination beside a shorter prefix, which sources would overtake',
      given: { prefixes: subnet, routes: routes('10.0.0.0/8 10.30.0.254') },
      want: [
        'dst-ip 10.0.0.0/8 10.30.0.254',
        'dst-ip 0.0.0.0/0 10.30.0.1',
        'src-ip fd00:30::/112 fd00:30::1',
      ],
    },
    {
      name: 'any destination beside an external subnet of a shorter prefix, in its family alone',
      given: { prefixes: subnet, externals: [parseCidr('10.9.0.0/24'), parseCidr('fd00:9::/64')] },
      want: ['src-ip 10.30.0.0/24 10.30.0.1', 'dst-ip ::/0 fd00:30::1'],
    },
    {
      name: 'any destination beside another subnet of a shorter prefix',
      given: { prefixes: prefixes('10.30.0.0/24 10.30.0.1', '10.31.0.0/16 10.31.0.1') },
      want: ['dst-ip 0.0.0.0/0 10.30.0.1', 'src-ip 10.31.0.0/16 10.31.0.1'],
    },
    {
      name: 'a source beside a prefix of the same length',
      given: { prefixes: prefixes('10.31.0.0/16 10.31.0.1'), routes: routes('10.32.0.0/16 169.254.0.2') },
      want: ['dst-ip 10.32.0.0/16 169.254.0.2', 'src-ip 10.31.0.0/16 10.31.0.1'],
    },
    {
      name: 'any destination beside the very source, which the router would share',
      given: { prefixes: subnet, routes: routes('src 10.30.0.0/24 10.30.0.254') },
      want: [
        'src-ip 10.30.0.0/24 10.30.0.254',
        'dst-ip 0.0.0.0/0 10.30.0.1',
        'src-ip fd00:30::/112 fd00:30::1',
      ],
    },
    {
      name: 'any destination beside a source that the subnet is a part of, and not beside another one',
      given: {
        prefixes: subnet,
        routes: routes('src 10.0.0.0/8 10.30.0.254', 'src fd00:31::/64 fd00:30::8'),
      },
      want: [
        'src-ip 10.0.0.0/8 10.30.0.254',
        'src-ip fd00:31::/64 fd00:30::8',
        'dst-ip 0.0.0.0/0 10.30.0.1',
        'src-ip fd00:30::/112 fd00:30::1',
      ],
    },
    {
      name: 'no way of its own beside one of any source',
      given: { prefixes: subnet, routes: routes('src 0.0.0.0/0 10.30.0.254') },
      want: ['src-ip 0.0.0.0/0 10.30.0.254', 'src-ip fd00:30::/112 fd00:30::1'],
    },
    {
      name: 'one last way for all subnets of a table',
      given: {
        prefixes: prefixes('10.30.0.0/24 10.30.0.1', '10.31.0.0/24 10.31.0.1', '10.32.0.0/24 10.32.0.1 t1'),
        routes: routes('10.0.0.0/8 10.30.0.254'),
      },
      want: [
        'dst-ip 10.0.0.0/8 10.30.0.254',
        'dst-ip 0.0.0.0/0 10.30.0.1',
        't1 src-ip 10.32.0.0/24 10.32.0.1',
      ],
    },
    {
      name: 'several next hops of one prefix',
      given: { routes: routes('10.9.0.0/16 10.30.0.2', '10.9.0.0/16 10.30.0.3', 'src 10.30.0.5 10.30.0.4') },
      want: ['dst-ip 10.9.0.0/16 10.30.0.2', 'dst-ip 10.9.0.0/16 10.30.0.3', 'src-ip 10.30.0.5 10.30.0.4'],
    },
    {
      name: 'to the nodes in the main table, and in each that is named',
      given: { nodeHops: nodes, routes: routes('172.31.0.0/16 10.17.0.254 rtb-1') },
      want: [
        'rtb-1 dst-ip 172.31.0.0/16 10.17.0.254',
        'dst-ip 0.0.0.0/0 100.64.0.1',
        'rtb-1 dst-ip 0.0.0.0/0 100.64.0.1',
        'dst-ip ::/0 fd00:64::1',
        'rtb-1 dst-ip ::/0 fd00:64::1',
      ],
    },
    {
      name: 'not to the nodes where the user leads all elsewhere',
      given: { nodeHops: nodes, routes: routes('0.0.0.0/0 10.16.0.254') },
      want: ['dst-ip 0.0.0.0/0 10.16.0.254', 'dst-ip ::/0 fd00:64::1'],
    },
    {
      name: 'what has stock OVN ask for a next hop that policies alone name, in a table of no subnet',
      given: {
        prefixes: subnet,
        routes: routes('fd00:9::/64 fd00:30::8'),
        policyHops: ['fd00:30::8', 'fd00:30::9', 'fd00:30::1'].map((hop) => parseIp(hop)),
      },
      want: [
        'dst-ip fd00:9::/64 fd00:30::8',
        'src-ip 10.30.0.0/24 10.30.0.1',
        'dst-ip ::/0 fd00:30::1',
        'policy-next-hops dst-ip fd00:30::9/128 fd00:30::9',
      ],
    },
  ])('has $name', ({ given, want }) => expect(shown(given)).toEqual(want))

  it('lets replies take the way back where the user says so', () => {
    const { routes: symmetric } = claimOf({
      metadata: { name: 'v1' },
      spec: {
        staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: '10.30.0.2', ecmpMode: 'ecmp_symmetric_reply' }],
      },
    })
    const [row] = desiredRoutes({
      ...{ vpc: 'v1', routes: symmetric, policyHops: [], nodeHops: [], prefixes: [], externals: [] },
    }).rows
    expect(row).toMatchObject({
      id: 'v1//dst-ip/10.9.0.0/16/10.30.0.2',
      columns: { options: { ecmp_symmetric_reply: 'true' }, external_ids: { vendor: 'kube-ovn' } },
    })
  })
})
