import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'

/** The subnet that a pod is to take its addresses from is not in effect. */
export class PodSubnetUnavailableError extends KubeOvnError<{
  readonly subnet: string
  readonly cure: string
}> {
  readonly code = 'pod-subnet-unavailable'
  readonly retry: RetryClass = 'on-change'

  constructor(details: PodSubnetUnavailableError['details']) {
    super('the subnet does not exist or is not in effect', details)
  }
}

/** The IPPool that a pod is to take its addresses from is not in effect. */
export class PodPoolUnavailableError extends KubeOvnError<{
  readonly pool: string
  readonly cure: string
}> {
  readonly code = 'pod-pool-unavailable'
  readonly retry: RetryClass = 'on-change'

  constructor(details: PodPoolUnavailableError['details']) {
    super('the IPPool does not exist or is not in effect', details)
  }
}

/** A list of addresses is shorter than its StatefulSet. */
export class PodPoolEntryMissingError extends KubeOvnError<{
  readonly subnet: string
  readonly pod: string
  readonly entries: number
  readonly cure: string
}> {
  readonly code = 'pod-pool-entry-missing'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<PodPoolEntryMissingError['details'], 'cure'>) {
    const cure = 'list as many addresses as the StatefulSet has replicas'
    super('NoAvailableAddress: the list has no entry for this member', { ...details, cure })
  }
}

/** No Subnet gives addresses to a network that a pod asks for. */
export class PodProviderUnboundError extends KubeOvnError<{
  readonly provider: string
  readonly cure: string
}> {
  readonly code = 'pod-provider-unbound'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<PodProviderUnboundError['details'], 'cure'>) {
    const cure = `create a Subnet with spec.provider ${details.provider}, or name one by its annotation`
    super('the provider is not bound to any subnet', { ...details, cure })
  }
}
