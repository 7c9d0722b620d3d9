import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** What a Service asks for in an attached network can not be as it is written. What was made before stays. */
export class LbSvcInvalidError extends KubeOvnError<Refused> {
  readonly code = 'lb-svc-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('the Service can have no address in the attached network', details, options)
  }
}

/** There is no such network. What was made before stays. */
export class LbSvcNetworkError extends KubeOvnError<Refused> {
  readonly code = 'lb-svc-network-unavailable'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('the attached network of the Service is not there', details)
  }
}
