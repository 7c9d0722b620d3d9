import { z } from 'zod'
import { macAddressRule, v4AddressRule, v6AddressRule } from './cel.ts'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { checkedText, generation, list, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const spec = z.object({
  namespace: text('Namespace whose Pods may have the addresses beside their own.'),
  subnet: text('Subnet that the addresses are taken from.'),
  type: text(
    'Empty: addresses that Pods may have beside their own, or that are only reserved. switch_lb_vip: a port that answers ' +
      'for a SwitchLBRule. kube_host_vm_vip: the port of a machine that runs in a Pod on the host network.',
  ),
  v4ip: checkedText(
    'IPv4 address; the controller writes the one it chose when empty.',
    64,
    v4AddressRule('v4ip'),
  ),
  v6ip: checkedText(
    'IPv6 address; the controller writes the one it chose when empty.',
    64,
    v6AddressRule('v6ip'),
  ),
  macAddress: checkedText(
    'MAC address; the controller writes the one it chose when empty.',
    64,
    macAddressRule('macAddress'),
  ),
  selector: texts(
    'Labels of the Pods, key:value, all of which must fit; those of the namespace that name the Vip in an annotation.',
  ),
  attachSubnets: texts('Unused.'),
})

const status = z.object({
  observedGeneration: generation,
  conditions: list('Ready; there is none before anything was wrong.', conditionSchema),
  type: text('Type of the Vip when it got its addresses.'),
  v4ip: text('IPv4 address.'),
  v6ip: text('IPv6 address.'),
  mac: text('MAC address.'),
  selector: texts('Unused.'),
})

export type VipSpec = DeepReadonly<z.infer<typeof spec>>
export type VipStatus = DeepReadonly<z.infer<typeof status>>

/** Addresses of a subnet that belong to no Pod: reserved, shared by Pods, or with a port of their own. */
export interface Vip extends KubeObject {
  readonly spec?: VipSpec
  readonly status?: VipStatus
}

export const vipResource: Resource<Vip> = { group, version, kind: 'Vip', plural: 'vips', namespaced: false }

/** What a Vip is for. */
export const vipType = {
  /** Reserved, lent to one Pod, or shared by several. */
  plain: '',
  /** Has a port with the MAC address of the router, which answers ARP for a SwitchLBRule. */
  switchLb: 'switch_lb_vip',
  /** Has a port like a Pod's, for a machine that runs in a Pod on the host network. */
  hostVm: 'kube_host_vm_vip',
} as const

/** Reasons of a Vip's conditions and events. */
export const vipReason = {
  /** The Vip has what it asks for. */
  acquireAddressSucceeded: 'AcquireAddressSucceeded',
  /** The Vip can not have what it asks for. */
  acquireAddressFailed: 'AcquireAddressFailed',
} as const

export const vipDefinition: Definition = {
  resource: vipResource,
  singular: 'vip',
  shortNames: ['vip'],
  description: 'Addresses of a subnet that belong to no Pod: reserved, shared, or with a port of their own.',
  spec,
  status,
  // Upstream has none either: its controller writes the status through the object itself.
  hasStatusSubresource: false,
  printerColumns: [
    { name: 'Namespace', type: 'string', jsonPath: '.spec.namespace' },
    { name: 'V4IP', type: 'string', jsonPath: '.status.v4ip' },
    { name: 'V6IP', type: 'string', jsonPath: '.status.v6ip' },
    { name: 'Mac', type: 'string', jsonPath: '.status.mac' },
    { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
  ],
}
