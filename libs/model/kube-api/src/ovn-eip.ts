import { z } from 'zod'
import { macAddressRule, oneOfRule, v4AddressRule, v6AddressRule } from './cel.ts'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { checkedText, flag, generation, list, text } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** What an OvnEip is for. */
export const ovnEipType = {
  /** An address that NAT leads from or to. */
  nat: 'nat',
  /** The address of a router's port on the external subnet. */
  routerPort: 'lrp',
  /** Has a port on the external subnet for a node: the one that has its name. */
  nodePort: 'lsp',
} as const

const spec = z.object({
  externalSubnet: text('External Subnet that the addresses are taken from; the default one when empty.'),
  v4Ip: checkedText(
    'IPv4 address; the controller writes the one it chose when empty.',
    64,
    v4AddressRule('v4Ip'),
  ),
  v6Ip: checkedText(
    'IPv6 address; the controller writes the one it chose when empty.',
    64,
    v6AddressRule('v6Ip'),
  ),
  macAddress: checkedText(
    'MAC address; the controller writes the one it chose when empty.',
    64,
    macAddressRule('macAddress'),
  ),
  type: checkedText(
    'nat (default): an address for NAT. lrp: that of a router port of a VPC. lsp: a port for the Node of the same name.',
    64,
    oneOfRule('type', Object.values(ovnEipType)),
  ),
})

const status = z.object({
  observedGeneration: generation,
  conditions: list('Ready and Error; there is none before anything was wrong.', conditionSchema),
  type: text('Type of the OvnEip when it got its addresses.'),
  nat: text('Kinds of NAT rules that use it.'),
  ready: flag('It can be used. One of type lsp is ready once its node has the interface.'),
  v4Ip: text('IPv4 address.'),
  v6Ip: text('IPv6 address.'),
  macAddress: text('MAC address.'),
})

export type OvnEipSpec = DeepReadonly<z.infer<typeof spec>>
export type OvnEipStatus = DeepReadonly<z.infer<typeof status>>

/** Addresses of an external subnet, for NAT, the port of a router or a node. */
export interface OvnEip extends KubeObject {
  readonly spec?: OvnEipSpec
  readonly status?: OvnEipStatus
}

export const ovnEipResource: Resource<OvnEip> = {
  group,
  version,
  kind: 'OvnEip',
  plural: 'ovn-eips',
  namespaced: false,
}

/** Reasons of an OvnEip's conditions and events. */
export const ovnEipReason = {
  /** The OvnEip can not have what it asks for, or not what it was edited to. */
  acquireAddressFailed: 'AcquireAddressFailed',
  /** A deletion waits for somebody who uses the addresses. */
  inUse: 'OvnEipInUse',
} as const

export const ovnEipDefinition: Definition = {
  resource: ovnEipResource,
  singular: 'ovn-eip',
  shortNames: ['oeip'],
  description: 'Addresses of an external subnet: for NAT, for the port of a router, or for a node.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'V4IP', type: 'string', jsonPath: '.status.v4Ip' },
    { name: 'V6IP', type: 'string', jsonPath: '.status.v6Ip' },
    { name: 'Mac', type: 'string', jsonPath: '.status.macAddress' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'Nat', type: 'string', jsonPath: '.status.nat' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
    { name: 'ExternalSubnet', type: 'string', jsonPath: '.spec.externalSubnet' },
  ],
}
