import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { generation, integer, list, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const port = z.object({
  name: text('Name of the port; needed when there are several.'),
  port: integer('Port of the address, 1 to 65535.'),
  targetPort: integer('Port of the backends, 1 to 65535; the same as port when absent.'),
  protocol: text('TCP (default), UDP or SCTP.'),
})

const spec = z.object({
  vip: text('Address that leads to the backends: v4, v6, or v4,v6 for both families.'),
  namespace: text('Namespace of the backends, and of the Service that is made; default when absent.'),
  selector: texts('Labels of the Pods that are the backends, key:value, all of which must fit.'),
  endpoints: texts('Addresses of the backends, in place of a selector.'),
  sessionAffinity: text('ClientIP keeps a client at one backend; None (default) does not.'),
  ports: list('Ports of the address, and those of the backends that they lead to.', port),
})

const status = z.object({
  observedGeneration: generation,
  conditions: list('Ready.', conditionSchema),
  ports: text('Ports with their protocols, separated by commas.'),
  service: text('The Service that is made, namespace/name.'),
})

export type SwitchLbRuleSpec = DeepReadonly<z.infer<typeof spec>>
export type SwitchLbRuleStatus = DeepReadonly<z.infer<typeof status>>

/** A load balancer in a VPC, under an address of its user's choice. */
export interface SwitchLbRule extends KubeObject {
  readonly spec?: SwitchLbRuleSpec
  readonly status?: SwitchLbRuleStatus
}

export const switchLbRuleResource: Resource<SwitchLbRule> = {
  group,
  version,
  kind: 'SwitchLBRule',
  plural: 'switch-lb-rules',
  namespaced: false,
}

/** Reasons of a SwitchLBRule's conditions and events. */
export const switchLbRuleReason = {
  /** The address leads to the backends. */
  served: 'Served',
  /** There is something in the specification that is not in effect. */
  notAsWritten: 'NotAsWritten',
  /** Nobody is there that the address, or one of its ports, could lead to. */
  noBackends: 'NoBackends',
} as const

export const switchLbRuleDefinition: Definition = {
  resource: switchLbRuleResource,
  singular: 'switch-lb-rule',
  shortNames: ['slr'],
  description: 'A load balancer in a VPC, under an address of choice.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'vip', type: 'string', jsonPath: '.spec.vip' },
    { name: 'port(s)', type: 'string', jsonPath: '.status.ports' },
    { name: 'service', type: 'string', jsonPath: '.status.service' },
    { name: 'age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}
