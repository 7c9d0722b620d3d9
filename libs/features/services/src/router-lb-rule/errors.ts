import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** The router of a RouterLBRule does not answer on the external subnet. Inside of its VPC the rule is served. */
export class RouterLbRuleUnconnectedError extends KubeOvnError<Refused & { readonly subnet: string }> {
  readonly code = 'router-lb-rule-unconnected'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<RouterLbRuleUnconnectedError['details'], 'field'>) {
    super('nobody outside finds the address', { field: 'spec.vpc', ...details })
  }
}
