import { z } from 'zod'
import type { Definition } from './definition.ts'
import { text } from './fields.ts'
import { group, version } from './api-group.ts'
import type { Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import { lbRuleColumns, lbRuleSpec, lbRuleStatus, type LbRule } from './lb-rule.ts'

const spec = z.object({
  vip: text('Address that leads to the backends: v4, v6, or v4,v6 for both families.'),
  ...lbRuleSpec.shape,
})

export type SwitchLbRuleSpec = DeepReadonly<z.infer<typeof spec>>

/** A load balancer in a VPC, under an address of its user's choice. */
export interface SwitchLbRule extends LbRule {
  readonly spec?: SwitchLbRuleSpec
}

export const switchLbRuleResource: Resource<SwitchLbRule> = {
  group,
  version,
  kind: 'SwitchLBRule',
  plural: 'switch-lb-rules',
  namespaced: false,
}

export const switchLbRuleDefinition: Definition = {
  resource: switchLbRuleResource,
  singular: 'switch-lb-rule',
  shortNames: ['slr'],
  description: 'A load balancer in a VPC, under an address of choice.',
  spec,
  status: lbRuleStatus,
  hasStatusSubresource: true,
  printerColumns: [{ name: 'vip', type: 'string', jsonPath: '.spec.vip' }, ...lbRuleColumns],
}
