import { z } from 'zod'
import { group, version } from './api-group.ts'
import { conditionSchema } from './conditions.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import type { Definition } from './definition.ts'
import { flag, generation, integer, list, text } from './fields.ts'

/** ConfigMap with the Corefile where a VpcDns names none. */
export const usualCorefile = 'vpc-dns-corefile'

const spec = z.object({
  vpc: text('Vpc whose Pods are answered. There is one VpcDns in a Vpc: the oldest.'),
  subnet: text('Subnet of the Vpc that the name servers have their addresses in.'),
  replicas: integer('How many name servers there are; 2 when absent or 0.'),
  corefile: z.string().optional().meta({
    description:
      'ConfigMap with the Corefile, in the namespace of the controller. While there is none of the usual name, a plain one is made.',
    default: usualCorefile,
  }),
})

const status = z.object({
  observedGeneration: generation,
  conditions: list('Ready.', conditionSchema),
  active: flag('It is the one that answers in its Vpc.'),
})

export type VpcDnsSpec = DeepReadonly<z.infer<typeof spec>>
export type VpcDnsStatus = DeepReadonly<z.infer<typeof status>>

/** Name servers inside of a Vpc. */
export interface VpcDns extends KubeObject {
  readonly spec?: VpcDnsSpec
  readonly status?: VpcDnsStatus
}

export const vpcDnsResource: Resource<VpcDns> = {
  group,
  version,
  kind: 'VpcDns',
  plural: 'vpc-dnses',
  namespaced: false,
}

/** Reasons of a VpcDns's conditions and events. */
export const vpcDnsReason = {
  /** The address is answered. */
  served: 'Served',
  /** There is something in the specification, or in the ConfigMap that goes for all, that is not in effect. */
  notAsWritten: 'NotAsWritten',
  /** Another VpcDns has the Vpc. */
  vpcTaken: 'VpcTaken',
  /** Somebody switched it off. */
  off: 'SwitchedOff',
  /** Nobody answers at the address, or not on all of its ports. */
  notServed: 'NotServed',
} as const

export const vpcDnsDefinition: Definition = {
  resource: vpcDnsResource,
  singular: 'vpc-dns',
  shortNames: ['vpc-dns'],
  description:
    'Name servers inside of a Vpc, under the address that the ConfigMap vpc-dns-config gives them.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'Active', type: 'boolean', jsonPath: '.status.active' },
    { name: 'Vpc', type: 'string', jsonPath: '.spec.vpc' },
    { name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' },
    { name: 'Corefile', type: 'string', jsonPath: '.spec.corefile' },
  ],
}
