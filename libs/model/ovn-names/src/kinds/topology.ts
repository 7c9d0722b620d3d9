import { externalId } from '../external-ids.ts'
import { isBfdPortName, localnetPortName, querierPortName } from '../names.ts'
import type { RowKind } from '../row-kind.ts'
import { rowKind } from './declare.ts'

export const logicalRouter = rowKind({
  name: 'lr',
  table: 'Logical_Router',
  shared: ['ports', 'policies', 'static_routes', 'nat', 'load_balancer', 'load_balancer_group'],
  identify: (row) => row.name,
})

export const logicalSwitch = rowKind({
  name: 'ls',
  table: 'Logical_Switch',
  shared: [
    'ports',
    'acls',
    'qos_rules',
    'load_balancer',
    'load_balancer_group',
    'dns_records',
    'forwarding_groups',
  ],
  identify: (row) => row.name,
})

/** The router's port to a subnet. */
export const subnetRouterPort = rowKind({
  name: 'lrp',
  table: 'Logical_Router_Port',
  shared: ['gateway_chassis', 'ipv6_prefix', 'ipv6_ra_configs'],
  composed: ['ipv6_prefix', 'ipv6_ra_configs'],
  identify: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer === undefined && !isBfdPortName(row.name)
      ? row.name
      : undefined,
})

/** The router's port to the router of another VPC. */
export const peerRouterPort = rowKind({
  name: 'lrp-peer',
  table: 'Logical_Router_Port',
  identify: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer !== undefined ? row.name : undefined,
})

/** The router's port to an external subnet. It shows nothing that one to a subnet of its own does not. */
export const externalRouterPort = rowKind({
  name: 'lrp-external',
  table: 'Logical_Router_Port',
  shared: ['gateway_chassis'],
  identify: () => undefined,
  resembles: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer === undefined ? row.name : undefined,
})

/** The port of an external subnet's switch to the router of a VPC; it shows as little. */
export const externalSwitchPort = rowKind({
  name: 'lsp-external',
  table: 'Logical_Switch_Port',
  identify: () => undefined,
  resembles: (row) => (row.type === 'router' ? row.name : undefined),
})

/** A node that may host a router's port, by its name: that of the port and the chassis. Upstream leaves its vendor out. */
export const gatewayChassis: RowKind<'Gateway_Chassis'> = {
  name: 'gwc',
  table: 'Gateway_Chassis',
  shared: [],
  identify: ({ name, chassis_name: chassis, external_ids: ids }) =>
    name === `${ids[externalId.routerPort] ?? ''}-${chassis}` ? name : undefined,
}

/** The router's port that is but the source of BFD sessions, by its name. */
export const bfdRouterPort = rowKind({
  name: 'lrp-bfd',
  table: 'Logical_Router_Port',
  identify: ({ name }) => (isBfdPortName(name) ? name : undefined),
})

/** The nodes that may host such a port, by its name. */
export const bfdChassisGroup = rowKind({
  name: 'hacg-bfd',
  table: 'HA_Chassis_Group',
  shared: ['ha_chassis'],
  identify: ({ name }) => (isBfdPortName(name) ? name : undefined),
})

/** One of these nodes, by group and chassis. */
export const bfdChassis = rowKind({
  name: 'hac-bfd',
  table: 'HA_Chassis',
  identify: ({ chassis_name: chassis }, { [externalId.chassisGroup]: group = '' }) =>
    isBfdPortName(group) ? `${group}/${chassis}` : undefined,
})

/**
 * A session by which a router's port asks a next hop whether it lives, by both. There is no second one of the same, so that one
 * which says nothing of itself, as upstream writes them, is taken over by the VPC that wants it; else it is left alone.
 */
export const bfdSession: RowKind<'BFD'> = {
  ...rowKind({ name: 'bfd', table: 'BFD', identify: (row) => `${row.logical_port}/${row.dst_ip}` }),
  resembles: (row) =>
    Object.keys(row.external_ids).length === 0 ? `${row.logical_port}/${row.dst_ip}` : undefined,
}

/** The switch's port to the router. */
export const switchRouterPort = rowKind({
  name: 'lsp-lr',
  table: 'Logical_Switch_Port',
  identify: (row) => (row.type === 'router' ? row.name : undefined),
})

/** The port of an underlay subnet's switch to the physical network, by the subnet. That of a gateway names no prefixes. */
export const localnetPort = rowKind({
  name: 'lsp-localnet',
  table: 'Logical_Switch_Port',
  exactMaps: ['options'],
  identify: (row, ids) => {
    const subnet = ids[externalId.logicalSwitch] ?? ''
    const hasPrefix = (ids[externalId.ipv4Network] ?? ids[externalId.ipv6Network]) !== undefined
    return row.type === 'localnet' && hasPrefix && row.name === localnetPortName(subnet) ? subnet : undefined
  },
})

/** The port that stands for the source of a subnet's multicast queries, by the subnet. */
export const querierPort = rowKind({
  name: 'lsp-querier',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => {
    const subnet = ids[externalId.logicalSwitch] ?? ''
    const isQuerier = row.type === '' && ids[externalId.pod] === `default/${row.name}`
    return isQuerier && row.name === querierPortName(subnet) ? subnet : undefined
  },
})
