import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'

/** A network that a pod asks for is not there. */
export class PodNetworkUnavailableError extends KubeOvnError<{
  readonly network: string
  readonly cure: string
}> {
  readonly code = 'pod-network-unavailable'
  readonly retry: RetryClass = 'on-change'

  constructor(details: PodNetworkUnavailableError['details']) {
    super('the network does not exist', details)
  }
}
