import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { flag, generation, list, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** The highest tag that a frame can have (IEEE 802.1Q keeps the last one to itself, which OVN and upstream take). */
export const highestVlanId = 4095

function vlanTag(description: string) {
  return z.int().min(0).max(highestVlanId).optional().meta({ description })
}

const spec = z.object({
  id: vlanTag('Tag of its frames on the physical network; 0 is without one.'),
  provider: z.string().meta({
    description: 'ProviderNetwork that its frames are on; empty is the default one, which is filled in.',
  }),
  vlanId: vlanTag('Deprecated: id, where that is 0.'),
  providerInterfaceName: text('Deprecated: provider, where that is empty.'),
})

const status = z.object({
  observedGeneration: generation,
  subnets: texts('Subnets that are on it.'),
  conflict: flag('Another Vlan has the same id on the same provider network: this one serves no Subnet.'),
  conditions: list('Validated, only as long as it is not.', conditionSchema),
})

export type VlanSpec = DeepReadonly<z.infer<typeof spec>>
export type VlanStatus = DeepReadonly<z.infer<typeof status>>

/** Frames with one tag, or without any, on a physical network: what an underlay subnet is on. */
export interface Vlan extends KubeObject {
  readonly spec?: VlanSpec
  readonly status?: VlanStatus
}

export const vlanResource: Resource<Vlan> = {
  group,
  version,
  kind: 'Vlan',
  plural: 'vlans',
  namespaced: false,
}

/** Reasons of a Vlan's condition and events; upstream has neither. */
export const vlanReason = {
  /** Its specification can not be used, at least at present. */
  invalid: 'ValidateVlanFailed',
} as const

export const vlanDefinition: Definition = {
  resource: vlanResource,
  singular: 'vlan',
  shortNames: ['vlan'],
  description: 'Frames with one tag, or without any, on a physical network.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'ID', type: 'string', jsonPath: '.spec.id' },
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'conflict', type: 'boolean', jsonPath: '.status.conflict' },
  ],
}
