import { z } from 'zod'
import { unchangeableRule } from './cel.ts'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { bigCount, flagDefaultingToFalse, generation, list, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const spec = z.object({
  subnet: z.string().meta({
    description: 'Subnet that the addresses are a part of; cannot be changed.',
    maxLength: 253,
    'x-kubernetes-validations': [unchangeableRule('subnet')],
  }),
  ips: z.array(z.string()).meta({
    description: 'Addresses (a), ranges (a..b) and prefixes of the subnet, both families mixed.',
  }),
  namespaces: texts('Namespaces whose Pods take addresses from here, and only from here.'),
  enableAddressSet: flagDefaultingToFalse(
    'Keeps an OVN address set of the addresses, named like the IPPool with dots in place of dashes.',
  ),
})

const status = z.object({
  observedGeneration: generation,
  v4AvailableIPs: bigCount('IPv4 addresses that are free.'),
  v4AvailableIPRange: text('The free IPv4 addresses as ranges.'),
  v4UsingIPs: bigCount('IPv4 addresses in use.'),
  v4UsingIPRange: text('The IPv4 addresses in use as ranges.'),
  v6AvailableIPs: bigCount('IPv6 addresses that are free.'),
  v6AvailableIPRange: text('The free IPv6 addresses as ranges.'),
  v6UsingIPs: bigCount('IPv6 addresses in use.'),
  v6UsingIPRange: text('The IPv6 addresses in use as ranges.'),
  conditions: list('Ready and Error.', conditionSchema),
})

export type IpPoolSpec = DeepReadonly<z.infer<typeof spec>>
export type IpPoolStatus = DeepReadonly<z.infer<typeof status>>

/** A part of a subnet's addresses that is handed out only to those who ask for it by name. */
export interface IpPool extends KubeObject {
  readonly spec?: IpPoolSpec
  readonly status?: IpPoolStatus
}

export const ipPoolResource: Resource<IpPool> = {
  group,
  version,
  kind: 'IPPool',
  plural: 'ippools',
  namespaced: false,
}

/** Reasons of an IPPool's conditions and events. */
export const ipPoolReason = {
  /** The addresses are handed out as the specification says. */
  updateIpamSucceeded: 'UpdateIPAMSucceeded',
  /** The addresses can not be handed out as the specification says. */
  updateIpamFailed: 'UpdateIPAMFailed',
  /** There can be no address set of these addresses. */
  reconcileAddressSetFailed: 'ReconcileAddressSetFailed',
  /** The IPPool is being deleted, and its addresses are in use. */
  addressesInUse: 'AddressesInUse',
} as const

export const ipPoolDefinition: Definition = {
  resource: ipPoolResource,
  singular: 'ippool',
  shortNames: ['ippool'],
  description: "A part of a subnet's addresses that is handed out only to those who ask for it.",
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' },
    { name: 'enableAddressSet', type: 'boolean', jsonPath: '.spec.enableAddressSet' },
    { name: 'IPs', type: 'string', jsonPath: '.spec.ips' },
    { name: 'V4Used', type: 'number', jsonPath: '.status.v4UsingIPs' },
    { name: 'V4Available', type: 'number', jsonPath: '.status.v4AvailableIPs' },
    { name: 'V6Used', type: 'number', jsonPath: '.status.v6UsingIPs' },
    { name: 'V6Available', type: 'number', jsonPath: '.status.v6AvailableIPs' },
  ],
}
