import { externalId } from '../external-ids.ts'
import { nodeAddressSetName } from '../names.ts'
import { rowKind } from './declare.ts'

/** Ports of all pods of a node. */
export const nodePortGroup = rowKind({
  name: 'pg-node',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) => {
    const node = ids[externalId.node]
    return node !== undefined && ids[externalId.networkPolicy] === `node/${node}` ? node : undefined
  },
})

/** Ports of a subnet's pods on a node, by subnet and node. */
export const subnetNodePortGroup = rowKind({
  name: 'pg-subnet',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) => {
    const node = ids[externalId.node]
    const subnet = ids[externalId.subnet]
    return node !== undefined && subnet !== undefined ? `${subnet}/${node}` : undefined
  },
})

/** Ports of the pods of an underlay subnet on a node, which reach Services by way of that. By its name: it does not say the node. */
export const interconnectionPortGroup = rowKind({
  name: 'pg-u2o',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) => (ids[externalId.isU2O] === 'true' ? row.name : undefined),
})

/** Addresses of an IPPool. */
export const ipPoolAddresses = rowKind({
  name: 'as-pool',
  table: 'Address_Set',
  identify: (_row, ids) => ids[externalId.ipPool],
})

/** Prefixes of all overlay subnets of a VPC, by VPC and family. */
export const overlayCidrs = rowKind({
  name: 'as-overlay',
  table: 'Address_Set',
  identify: (row, ids) => {
    const vpc = ids[externalId.vpc]
    if (vpc === undefined || ids[externalId.isOverlayCidrs] !== 'true') return undefined
    return `${vpc}/${row.name.endsWith('.ip6') ? 6 : 4}`
  },
})

/** The nodes' own addresses, for pods of an underlay subnet, by subnet and family. */
export const interconnectionNodes = rowKind({
  name: 'as-u2o',
  table: 'Address_Set',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || ids[externalId.isU2ORoutePolicy] !== 'true') return undefined
    return `${subnet}/${row.name.endsWith('.ip6') ? 6 : 4}`
  },
})

/** The nodes' own addresses, by family. */
export const nodeAddressSet = rowKind({
  name: 'as-nodes',
  table: 'Address_Set',
  identify: ({ name }) => {
    const family = ([4, 6] as const).find((one) => name === nodeAddressSetName(one))
    return family === undefined ? undefined : `${family}`
  },
})
