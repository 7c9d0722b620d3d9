import { describe, expect, it } from 'vitest'
import { subnet } from '@kube-ovn/testing-builders'
import { lease, network } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredInterconnection, type InterconnectionSnapshot } from './desired.ts'

const families = {
  IPv4: { cidr: '10.9.0.0/16', address: '10.9.0.5' },
  IPv6: { cidr: 'fd00:9::/112', address: 'fd00:9::5' },
  both: { cidr: '10.9.0.0/16,fd00:9::/112', address: '10.9.0.5,fd00:9::5' },
} as const
type FamilyName = keyof typeof families

const nic = 'u2o-interconnection.ovn-cluster.dc-net'

interface Mode {
  readonly vpc?: string
  readonly isOverlayOnly?: boolean
  readonly isActive?: boolean
}

function snapshot(name: FamilyName, mode: Mode = {}): InterconnectionSnapshot {
  const { vpc = 'ovn-cluster', isOverlayOnly = false, isActive = true } = mode
  const { cidr: cidrBlock, address } = families[name]
  const spec = { cidrBlock, vpc, vlan: 'v10', u2oInterconnection: true }
  return {
    subnet: 'dc-net',
    connected: { network: network('dc-net', cidrBlock, spec), interconnect: { wish: {}, isOverlayOnly } },
    address: {
      ...{ nic, lease: lease('dc-net', nic, address), problem: undefined, records: [] },
      ...{ object: subnet({ name: 'dc-net', ...spec }), saysGeneration: true },
    },
    saysAddress: false,
    isActive,
    nodes: ['172.18.0.2', 'fd00:18::2'],
  }
}

/** The sets of nodes' addresses. */
const sets = ([4, 6] as const).map((family) => ({
  row: `as-u2o/dc-net/${family}`,
  name: `dc.net.u2o_exclude_ip.ip${family}`,
  addresses: [family === 4 ? '172.18.0.2' : 'fd00:18::2'],
  external_ids: { vendor: 'kube-ovn', subnet: 'dc-net', isU2ORoutePolicy: 'true' },
}))

/** Policies as `priority match action next-hop`. */
function policies(given: InterconnectionSnapshot): readonly string[] {
  return shownRows(desiredInterconnection(given))
    .filter(({ row }) => String(row).startsWith('lrpol-'))
    .map((row) => [row['priority'], row['match'], row['action'], row['nexthops']].join(' ').trim())
}

const cidrs = { 4: '10.9.0.0/16', 6: 'fd00:9::/112' } as const
const gateways = { 4: '10.9.0.1', 6: 'fd00:9::1' } as const

/** What leads traffic of one family, by mode. */
const wanted: Readonly<Record<string, (family: 4 | 6) => readonly string[]>> = {
  'the default VPC': (family) => [
    `31000 ip${family}.dst == $dc.net.u2o_exclude_ip.ip${family} && ip${family}.src == ${cidrs[family]} reroute ${gateways[family]}`,
    `29400 ip${family}.dst == ${cidrs[family]} allow`,
    `29000 ip${family}.src == ${cidrs[family]} reroute ${gateways[family]}`,
  ],
  'another VPC': (family) => [`29000 ip${family}.src == ${cidrs[family]} reroute ${gateways[family]}`],
  'overlays only': (family) => [
    `31000 ip${family}.dst == $dc.net.u2o_exclude_ip.ip${family} && ip${family}.src == ${cidrs[family]} reroute ${gateways[family]}`,
    `30060 ip${family}.src == ${cidrs[family]} && ip${family}.dst == ${cidrs[family]} allow`,
    `30050 ip${family}.src == ${cidrs[family]} reroute ${gateways[family]}`,
    `29400 ip${family}.src == $ovn.cluster.u2o_overlay_cidrs.ip${family} && ip${family}.dst == ${cidrs[family]} allow`,
  ],
}
const modes: Readonly<Record<string, Mode>> = {
  'the default VPC': {},
  'another VPC': { vpc: 'red' },
  'overlays only': { isOverlayOnly: true },
}
const familiesOf = { IPv4: [4], IPv6: [6], both: [4, 6] } as const

const table = Object.entries(modes).flatMap(([mode, given]) =>
  (['IPv4', 'IPv6', 'both'] as const).map((name) => ({ mode, name, given })),
)

function statusOf(given: InterconnectionSnapshot): unknown {
  return shownPatches(desiredInterconnection(given)).filter(
    ({ object }) => object === 'subnets/dc-net/status',
  )
}

describe('desiredInterconnection', () => {
  it.each(table)('leads $name of $mode', ({ mode, name, given }) => {
    const snapshotOf = snapshot(name, given)
    expect(policies(snapshotOf)).toEqual(familiesOf[name].flatMap((family) => wanted[mode]?.(family) ?? []))
    const rows = shownRows(desiredInterconnection(snapshotOf))
    expect(rows.slice(0, 2)).toEqual(sets)
    const router = given.vpc ?? 'ovn-cluster'
    expect(shownMembers(desiredInterconnection(snapshotOf))).toEqual(
      rows.slice(2).map(({ row }) => `lr/${router} policies: ${String(row)}`),
    )
  })

  it('marks its policies, and those of overlays only once more', () => {
    const idsOf = (mode: Mode) =>
      shownRows(desiredInterconnection(snapshot('IPv4', mode)))
        .slice(2)
        .map((row) => row['external_ids'])
    const ids = { vendor: 'kube-ovn', subnet: 'dc-net', isU2ORoutePolicy: 'true' }
    const overlayOnly = { ...ids, isU2OOverlayOnlyRoutePolicy: 'true' }
    expect(idsOf({})).toEqual([ids, ids, ids])
    expect(idsOf({ isOverlayOnly: true })).toEqual([overlayOnly, overlayOnly, ids, overlayOnly])
  })

  it.each(['IPv4', 'IPv6', 'both'] as const)('says in the status which addresses it has, of %s', (name) => {
    const status = {
      u2oInterconnectionIP: families[name].address,
      u2oInterconnectionMAC: '00:00:5e:00:53:01',
      u2oInterconnectionVPC: 'ovn-cluster',
    }
    // The port goes by the status, and policies go by the port.
    const early = snapshot(name, { isActive: false })
    expect(statusOf(early)).toEqual([{ object: 'subnets/dc-net/status', status }])
    expect(shownRows(desiredInterconnection(early))).toEqual([])
  })

  it('takes back what the status said, and has no rows, where there is no connection any more', () => {
    const { address, ...rest } = snapshot('both')
    const over = { ...rest, connected: undefined, address: { ...address, nic: undefined, lease: undefined } }
    expect(shownRows(desiredInterconnection(over))).toEqual([])
    expect(statusOf(over)).toEqual([])
    const status = { u2oInterconnectionIP: '', u2oInterconnectionMAC: '', u2oInterconnectionVPC: '' }
    expect(statusOf({ ...over, saysAddress: true })).toEqual([{ object: 'subnets/dc-net/status', status }])
  })
})
