import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { flag, generation, integer, list, text } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const rule = z.object({
  ipVersion: text('ipv4 or ipv6.'),
  protocol: text('all, icmp, tcp, udp or sctp.'),
  priority: integer('1 to 16384, the lowest match wins.'),
  remoteType: text('What the other side is: address or securityGroup.'),
  remoteAddress: text('Address or prefix of the other side, with remoteType address.'),
  remoteSecurityGroup: text('SecurityGroup of the other side, with remoteType securityGroup.'),
  portRangeMin: integer('First destination port, 1 to 65535, of tcp, udp and sctp.'),
  portRangeMax: integer('Last destination port.'),
  localAddress: text('Address or prefix of the Pod; any address of its when empty.'),
  sourcePortRangeMin: integer('First source port, with localAddress.'),
  sourcePortRangeMax: integer('Last source port.'),
  policy: text('allow, drop, or pass: what comes later decides. pass is for tier 0.'),
})

const spec = z.object({
  tier: integer('0: with other policies. 1: after them, where nothing else has decided.'),
  allowSameGroupTraffic: flag('Members may talk to each other.'),
  ingressRules: list('What members receive. What no rule allows is dropped.', rule),
  egressRules: list('What members send. What no rule allows is dropped.', rule),
})

const status = z.object({
  observedGeneration: generation,
  portGroup: text('Name of its port group in OVN.'),
  allowSameGroupTraffic: flag('Members may talk to each other.'),
  ingressMd5: text('Hash of the rules for what members receive; empty while some of them have no effect.'),
  egressMd5: text('Hash of the rules for what members send; empty while some of them have no effect.'),
  ingressLastSyncSuccess: flag('All rules for what members receive are in effect.'),
  egressLastSyncSuccess: flag('All rules for what members send are in effect.'),
  conditions: list('Validated, only as long as a part of the specification has no effect.', conditionSchema),
})

export type SecurityGroupSpec = DeepReadonly<z.infer<typeof spec>>
export type SecurityGroupRule = DeepReadonly<z.infer<typeof rule>>
export type SecurityGroupStatus = DeepReadonly<z.infer<typeof status>>

/** Rules for the ports of the Pods that name it. */
export interface SecurityGroup extends KubeObject {
  readonly spec?: SecurityGroupSpec
  readonly status?: SecurityGroupStatus
}

export const securityGroupResource: Resource<SecurityGroup> = {
  group,
  version,
  kind: 'SecurityGroup',
  plural: 'security-groups',
  namespaced: false,
}

/** Reasons of a SecurityGroup's conditions and events. Upstream has none. */
export const securityGroupReason = {
  /** Parts of the specification have no effect. */
  invalid: 'SecurityGroupInvalid',
} as const

export const securityGroupDefinition: Definition = {
  resource: securityGroupResource,
  singular: 'security-group',
  shortNames: ['sg'],
  description: 'Rules for the ports of the Pods that name it.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [],
}
