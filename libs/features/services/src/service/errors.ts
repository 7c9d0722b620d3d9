import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import { mostAffinitySeconds } from '@kube-ovn/domains-control/services'

/** A Service wants clients to be remembered for longer than OVN can. */
export class AffinityTooLongError extends KubeOvnError<Refused> {
  readonly code = 'service-affinity-too-long'
  readonly retry: RetryClass = 'on-change'

  constructor(seconds: number) {
    super('OVN does not remember clients for so long', {
      field: 'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      value: String(seconds),
      cure: `write at most ${mostAffinitySeconds}, which is in effect`,
    })
  }
}

/** A Service is of a VPC in which no Services are served. */
export class ServiceVpcError extends KubeOvnError<Refused> {
  readonly code = 'service-vpc-unknown'
  readonly retry: RetryClass = 'on-change'

  constructor({
    field,
    value,
    clusterRouter,
  }: Pick<Refused, 'field' | 'value'> & { readonly clusterRouter: string }) {
    super('Services are not served in this VPC', {
      field,
      value,
      cure: `write ${clusterRouter}, or remove the annotation: until then kube-proxy serves it`,
    })
  }
}
