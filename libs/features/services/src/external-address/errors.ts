import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** A Subnet is to have addresses of external load balancers, which OVN can not serve there. Nodes serve them as any others. */
export class ExternalAddressesUnservedError extends KubeOvnError<Refused> {
  readonly code = 'external-addresses-unserved'
  readonly retry: RetryClass = 'on-change'

  constructor(cure: string) {
    super('OVN serves no addresses of external load balancers in the Subnet', {
      ...{ field: 'spec.enableExternalLBAddress', value: 'true', cure },
    })
  }
}
