import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** A SwitchLBRule or RouterLBRule can not be as it is written. What was made of it before stays. */
export class LbRuleInvalidError extends KubeOvnError<Refused> {
  readonly code = 'lb-rule-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('the rule can not be used', details, options)
  }
}

/** A rule has no address that could lead anywhere. What was made of it goes. */
export class LbRuleAddressError extends KubeOvnError<Refused> {
  readonly code = 'lb-rule-no-address'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('the rule has no address', details)
  }
}

/** A part of a rule has no effect. The rest has. */
export class LbRulePartError extends KubeOvnError<Refused> {
  readonly code = 'lb-rule-part'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('a part of the rule has no effect', details)
  }
}

/** There are no backends of a rule. */
export class LbRuleBackendsError extends KubeOvnError<Refused> {
  readonly code = 'lb-rule-no-backends'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('nobody is ready behind the address', details)
  }
}

/** The Service of a rule is on its way out, and somebody's finalizers hold it: it can not be made anew as it has to be. */
export class LbRuleHeldError extends KubeOvnError<Refused> {
  readonly code = 'lb-rule-held'
  readonly retry: RetryClass = 'on-change'

  constructor(service: string, finalizers: readonly string[]) {
    super('the Service of the rule was deleted and is held', {
      field: `metadata.finalizers of the Service ${service}`,
      value: finalizers.join(','),
      cure: 'have whoever put them there take them away, or take them away yourself: the Service is made anew then',
    })
  }
}
