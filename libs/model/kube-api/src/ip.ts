import { z } from 'zod'
import { macAddressRule, v4AddressRule, v6AddressRule } from './cel.ts'
import type { Definition } from './definition.ts'
import { checkedText, generation, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const spec = z.object({
  podName: text('Pod that has the addresses; the node for a node address.'),
  namespace: text('Namespace of the Pod; empty for a node address.'),
  subnet: text('Subnet that the addresses are taken from.'),
  nodeName: text('Node on which the Pod runs; empty until it is scheduled.'),
  ipAddress: text('All addresses of the NIC: v4, v6 or v4,v6.'),
  v4IpAddress: checkedText(
    'IPv4 address. In an object that a user creates: the address to reserve.',
    64,
    v4AddressRule('v4IpAddress'),
  ),
  v6IpAddress: checkedText(
    'IPv6 address. In an object that a user creates: the address to reserve.',
    64,
    v6AddressRule('v6IpAddress'),
  ),
  macAddress: checkedText('MAC address of the NIC.', 64, macAddressRule('macAddress')),
  podType: text('Empty, StatefulSet or VirtualMachine: owners whose Pods keep their addresses.'),
  attachSubnets: texts('Unused, always empty. Subnets of further NICs in an early version.'),
  attachIps: texts('Unused, always empty. Addresses of further NICs in an early version.'),
  attachMacs: texts('Unused, always empty. MAC addresses of further NICs in an early version.'),
  containerID: text('Unused.'),
})

const status = z.object({ observedGeneration: generation })

export type IpSpec = DeepReadonly<z.infer<typeof spec>>
export type IpStatus = DeepReadonly<z.infer<typeof status>>

/**
 * The durable record of the addresses of one NIC.
 *
 * Named `<pod>.<namespace>[.<provider>]`, or `node-<node>` for a node's join address. A user may create one in advance,
 * under the name of the future port, to reserve addresses.
 */
export interface Ip extends KubeObject {
  readonly spec?: IpSpec
  readonly status?: IpStatus
}

export const ipResource: Resource<Ip> = { group, version, kind: 'IP', plural: 'ips', namespaced: false }

export const ipDefinition: Definition = {
  resource: ipResource,
  singular: 'ip',
  shortNames: ['ip'],
  description: 'Records the addresses of one NIC, or reserves them for a Pod to come.',
  spec,
  status,
  // Upstream has no status at all. So it costs no write of its own.
  hasStatusSubresource: false,
  printerColumns: [
    { name: 'V4IP', type: 'string', jsonPath: '.spec.v4IpAddress' },
    { name: 'V6IP', type: 'string', jsonPath: '.spec.v6IpAddress' },
    { name: 'Mac', type: 'string', jsonPath: '.spec.macAddress' },
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
    { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' },
  ],
}
