import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { PrinterColumn } from './definition.ts'
import { generation, integer, list, text, texts } from './fields.ts'
import type { KubeObject } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const port = z.object({
  name: text('Name of the port; needed when there are several.'),
  port: integer('Port of the address, 1 to 65535.'),
  targetPort: integer('Port of the backends, 1 to 65535; the same as port when absent.'),
  protocol: text('TCP (default), UDP or SCTP.'),
})

/** Where an address leads, whatever says which address it is. */
export const lbRuleSpec = z.object({
  namespace: text('Namespace of the backends, and of the Service that is made; default when absent.'),
  selector: texts('Labels of the Pods that are the backends, key:value, all of which must fit.'),
  endpoints: texts('Addresses of the backends, in place of a selector.'),
  sessionAffinity: text('ClientIP keeps a client at one backend; None (default) does not.'),
  ports: list('Ports of the address, and those of the backends that they lead to.', port),
})

export const lbRuleStatus = z.object({
  observedGeneration: generation,
  conditions: list('Ready.', conditionSchema),
  ports: text('Ports with their protocols, separated by commas.'),
  service: text('The Service that is made, namespace/name.'),
})

export type LbRuleSpec = DeepReadonly<z.infer<typeof lbRuleSpec>>
export type LbRuleStatus = DeepReadonly<z.infer<typeof lbRuleStatus>>

/** A rule by which an address leads to backends: a SwitchLBRule or a RouterLBRule. */
export interface LbRule extends KubeObject {
  readonly spec?: LbRuleSpec
  readonly status?: LbRuleStatus
}

/** Reasons of conditions and events of rules. */
export const lbRuleReason = {
  /** The address leads to the backends. */
  served: 'Served',
  /** There is something in the specification that is not in effect. */
  notAsWritten: 'NotAsWritten',
  /** Nobody is there that the address, or one of its ports, could lead to. */
  noBackends: 'NoBackends',
} as const

/** What every rule shows beside its address. */
export const lbRuleColumns: readonly PrinterColumn[] = [
  { name: 'port(s)', type: 'string', jsonPath: '.status.ports' },
  { name: 'service', type: 'string', jsonPath: '.status.service' },
  { name: 'age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]
