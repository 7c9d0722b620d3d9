import { z } from 'zod'
import type { Definition } from './definition.ts'
import { text } from './fields.ts'
import { group, version } from './api-group.ts'
import type { Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import { lbRuleColumns, lbRuleSpec, lbRuleStatus, type LbRule } from './lb-rule.ts'

const spec = z.object({
  ovnEip: text('OvnEip whose addresses lead to the backends.'),
  vpc: text('Vpc of the backends, which is connected to the external subnet of the OvnEip.'),
  ...lbRuleSpec.shape,
})

export type RouterLbRuleSpec = DeepReadonly<z.infer<typeof spec>>

/** A load balancer at the router of a VPC, under an address of an external subnet. */
export interface RouterLbRule extends LbRule {
  readonly spec?: RouterLbRuleSpec
}

export const routerLbRuleResource: Resource<RouterLbRule> = {
  group,
  version,
  kind: 'RouterLBRule',
  plural: 'router-lb-rules',
  namespaced: false,
}

export const routerLbRuleDefinition: Definition = {
  resource: routerLbRuleResource,
  singular: 'router-lb-rule',
  shortNames: ['rlr'],
  description: 'A load balancer at the router of a VPC, under an address of an external subnet.',
  spec,
  status: lbRuleStatus,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'ovnEip', type: 'string', jsonPath: '.spec.ovnEip' },
    { name: 'vpc', type: 'string', jsonPath: '.spec.vpc' },
    ...lbRuleColumns,
  ],
}
