import { externalId } from '../external-ids.ts'
import { routerPolicyPriority } from '../priorities.ts'
import { rowKind, perFamily } from './declare.ts'

/** "From this pod's address": leaves by the next hop that the pod chose. By subnet and address. */
export const northGatewayPolicy = rowKind({
  name: 'lrpol-north',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    const address = row.match.split('.src == ')[1]
    if (subnet === undefined || address === undefined) return undefined
    return row.priority === routerPolicyPriority.podGateway ? `${subnet}/${address}` : undefined
  },
})

/** "The destination is one of the router's subnets", by subnet and family. */
export const subnetPolicy = rowKind({
  name: 'lrpol-subnet',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || row.priority !== routerPolicyPriority.subnetDestination) return undefined
    return row.action === 'allow' ? perFamily(subnet, row.match) : undefined
  },
})

/** "The destination is a node's address", by node and family. */
export const nodePolicy = rowKind({
  name: 'lrpol-node',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    if (node === undefined || row.priority !== routerPolicyPriority.nodeDestination) return undefined
    return ids[externalId.isLocalDnsCache] === 'true' ? undefined : perFamily(node, row.match)
  },
})

/** "From a pod of this node to a node-local DNS address", by node and address. */
export const nodeLocalDnsPolicy = rowKind({
  name: 'lrpol-dns',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    const address = row.match.split('.dst == ')[1]
    return node === undefined || address === undefined || ids[externalId.isLocalDnsCache] !== 'true'
      ? undefined
      : `${node}/${address}`
  },
})

/** "From a pod of this subnet on this node": leaves by the node. By subnet, node and family. */
export const subnetGatewayPolicy = rowKind({
  name: 'lrpol-gw',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    const subnet = ids[externalId.subnet]
    if (node === undefined || subnet === undefined || !row.match.includes('$')) return undefined
    return row.priority === routerPolicyPriority.subnetGateway
      ? perFamily(`${subnet}/${node}`, row.match)
      : undefined
  },
})

/**
 * "From an address of the subnet, to the join addresses of its gateway nodes", by subnet and family. Its `external_ids` have an address by
 * each node's name, which may be any: that it compares with no address set tells it from {@link subnetGatewayPolicy}.
 */
export const centralGatewayPolicy = rowKind({
  name: 'lrpol-central',
  table: 'Logical_Router_Policy',
  exactMaps: ['external_ids'],
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || row.match.includes('$') || ids[externalId.isU2ORoutePolicy] === 'true')
      return undefined
    const isGateway = row.priority === routerPolicyPriority.subnetGateway && row.action === 'reroute'
    return isGateway ? perFamily(subnet, row.match) : undefined
  },
})

/** What leads traffic of an underlay subnet that is connected to the router, by subnet, priority and family. */
export const interconnectionPolicy = rowKind({
  name: 'lrpol-u2o',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || ids[externalId.isU2ORoutePolicy] !== 'true') return undefined
    return ids[externalId.isU2OWithoutBalancer] === 'true'
      ? undefined
      : perFamily(`${subnet}/${row.priority}`, row.match)
  },
})

/** "From a pod of this underlay subnet on this node to Services": by way of the node. By subnet, node and prefix of Services. */
export const interconnectionServicePolicy = rowKind({
  name: 'lrpol-u2o-lb',
  table: 'Logical_Router_Policy',
  identify: (_row, ids) => {
    const [subnet, node, cidr] = [ids[externalId.subnet], ids[externalId.node], ids[externalId.serviceCidr]]
    const isKnown = subnet !== undefined && node !== undefined && cidr !== undefined
    return isKnown && ids[externalId.isU2OWithoutBalancer] === 'true'
      ? `${subnet}/${node}/${cidr}`
      : undefined
  },
})

/** A route of a VPC, by router, table, address that is compared, prefix and next hop: all by which OVN tells routes apart. */
export const vpcRoute = rowKind({
  name: 'route',
  table: 'Logical_Router_Static_Route',
  parent: ['Logical_Router', 'static_routes'],
  identify: (row, _ids, parent) =>
    parent === undefined
      ? undefined
      : [parent.name, row.route_table, row.policy ?? 'dst-ip', row.ip_prefix, row.nexthop].join('/'),
})

/** A policy that a user gave a VPC, by router, priority and match. Those of others say more of themselves than their vendor. */
export const vpcPolicy = rowKind({
  name: 'lrpol-vpc',
  table: 'Logical_Router_Policy',
  parent: ['Logical_Router', 'policies'],
  identify: (row, ids, parent) => {
    const isPlain = Object.keys(ids).every((key) => plainMarks.has(key))
    return parent === undefined || !isPlain ? undefined : `${parent.name}/${row.priority}/${row.match}`
  },
})

const plainMarks: ReadonlySet<string> = new Set([externalId.vendor, externalId.owner, externalId.id])
