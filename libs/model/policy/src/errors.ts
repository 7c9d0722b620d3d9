import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Refuses a part of a policy, of which the rest is in effect: nothing more is allowed because of it. */
export class PolicyInvalidError extends KubeOvnError<Refused> {
  readonly code = 'policy-invalid'
  readonly retry = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('policy is invalid', details, options)
  }
}
