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

/** A pod asks for several NICs in one network without a name for each: they would be one port. */
export class PodNetworkRepeatedError extends KubeOvnError<{
  readonly provider: string
  readonly cure: string
}> {
  readonly code = 'pod-network-repeated'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<PodNetworkRepeatedError['details'], 'cure'>) {
    const cure = 'give each of them a name of its own, as in net1@a,net1@b, or ask for one'
    super('several NICs in the network have one name', { ...details, cure })
  }
}
