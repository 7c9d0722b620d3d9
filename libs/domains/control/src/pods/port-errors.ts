import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import type { Ip } from '@kube-ovn/kube-api'

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

/** A pod has to wait for what a user reserved for it. */
export class ReservationUnavailableError extends KubeOvnError<
  Refused & {
    /** Name of the IP object. */
    readonly reservation: string
    readonly reason: string
    /** Who has it; empty when it is nobody who stands in the way. */
    readonly holders: readonly string[]
  }
> {
  readonly code = 'ip-reservation-unavailable'
  readonly retry: RetryClass = 'on-change'
  /** What the IP object is told. */
  readonly problem: KubeOvnError

  constructor(object: Ip, cause: KubeOvnError) {
    const { cure = '', holders = [] } = cause.details as {
      readonly cure?: string
      readonly holders?: readonly string[]
    }
    super(
      'the pod waits for what is reserved for it',
      {
        reservation: object.metadata.name,
        ...faultOf(object, cause),
        reason: cause.message,
        holders,
        cure: `${cure}, or delete the IP object`,
      },
      { cause },
    )
    this.problem = cause
  }
}

/** The field of an IP object that can not be had. IPAM knows addresses, and not where they came from. */
function faultOf(
  { spec }: Ip,
  { details }: KubeOvnError,
): { readonly field: string; readonly value: string } {
  const { field, value, address, mac, requested } = details as Readonly<Record<string, unknown>>
  if (typeof field === 'string') return { field, value: typeof value === 'string' ? value : '' }
  if (typeof mac === 'string') return { field: 'spec.macAddress', value: mac }
  if (typeof address === 'string' || requested !== undefined) {
    const isV6 = requested === 6 || (typeof address === 'string' && address.includes(':'))
    const written = (isV6 ? spec?.v6IpAddress : spec?.v4IpAddress) ?? ''
    return {
      field: isV6 ? 'spec.v6IpAddress' : 'spec.v4IpAddress',
      value: typeof address === 'string' ? address : written,
    }
  }
  return { field: 'spec.subnet', value: spec?.subnet ?? '' }
}

/** A pod has other addresses than a user reserved for it, which the IP object records from then on. */
export class ReservationGivenUpError extends KubeOvnError<
  Refused & {
    /** Name of the IP object. */
    readonly reservation: string
    /** The addresses that are free from now on. */
    readonly reserved: string
  }
> {
  readonly code = 'ip-reservation-given-up'
  readonly retry: RetryClass = 'on-change'

  /** `field` is the annotation by which the pod asks for others; empty when it had them before the IP object was there. */
  constructor({ field, value, reservation, reserved }: Omit<ReservationGivenUpError['details'], 'cure'>) {
    const how = field === '' ? '' : `, the pod without ${field}`
    const cure = `to have ${reserved} after all delete both, and make them anew${how}`
    super('the pod has other addresses than the IP object reserves for it', {
      ...{ field, value, reservation, reserved },
      cure,
    })
  }
}
