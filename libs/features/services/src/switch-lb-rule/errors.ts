import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Something else has the address of a SwitchLBRule as its own. */
export class SwitchLbRuleVipTakenError extends KubeOvnError<
  Refused & {
    readonly subnet: string
    readonly holder: string
  }
> {
  readonly code = 'switch-lb-rule-vip-taken'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<SwitchLbRuleVipTakenError['details'], 'field' | 'cure'>) {
    super('The address of the SwitchLBRule is the own one of somebody else', {
      field: 'spec.vip',
      ...details,
      cure: 'choose an address that nobody has: until then the ports of the rule are answered in the place of the holder',
    })
  }
}

/** The address of a SwitchLBRule is one of a subnet in which nothing answers who asks for it. */
export class SwitchLbRuleVipUnansweredError extends KubeOvnError<Refused & { readonly subnet: string }> {
  readonly code = 'switch-lb-rule-vip-unanswered'
  readonly retry: RetryClass = 'on-change'

  constructor({ value, subnet }: Pick<SwitchLbRuleVipUnansweredError['details'], 'value' | 'subnet'>) {
    super('Nobody in the subnet finds the address of the SwitchLBRule', {
      field: 'spec.vip',
      value,
      subnet,
      cure: 'create a Vip of type switch_lb_vip with this address in the Subnet, or choose an address outside of all Subnets of the VPC',
    })
  }
}
