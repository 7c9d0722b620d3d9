import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'

/** The subnet that a pod is to take its addresses from is not in effect. */
export class PodSubnetUnavailableError extends KubeOvnError<{
  readonly subnet: string
  readonly cure: string
}> {
  readonly code = 'pod-subnet-unavailable'
  readonly retry: RetryClass = 'on-change'

  constructor(details: { readonly subnet: string; readonly cure: string }) {
    super('the subnet does not exist or is not in effect', details)
  }
}
