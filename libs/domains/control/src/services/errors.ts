import { serviceAnnotations, type Annotations } from '@kube-ovn/annotations'
import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import { mostAffinitySeconds } from './affinity.ts'

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

/** A Service is of a VPC that is not there, or whose router is none of ours. */
export class ServiceVpcError extends KubeOvnError<Refused> {
  readonly code = 'service-vpc-unknown'
  readonly retry: RetryClass = 'on-change'

  constructor({ field, value }: Pick<Refused, 'field' | 'value'>) {
    super('There is no such VPC, or it is an external one', {
      field,
      value,
      cure: 'create the Vpc, or write another one: until then kube-proxy alone serves it',
    })
  }
}

/** A Service wants to be reached by way of a router, and no RouterLBRule made it. */
export class ServiceRouterVipError extends KubeOvnError<Refused> {
  readonly code = 'service-router-vip-stray'
  readonly retry: RetryClass = 'on-change'

  constructor(annotations: Annotations | undefined) {
    const { key } = serviceAnnotations.routerLbVip
    super('The annotation counts on Services of RouterLBRules only', {
      field: key,
      value: annotations?.[key] ?? '',
      cure: 'remove it, and make a RouterLBRule: until then OVN does not serve this Service',
    })
  }
}

/** A Service names a VPC without a Subnet, or a Subnet without a VPC. */
export class ServiceVpcHalfError extends KubeOvnError<Refused> {
  readonly code = 'service-vpc-half'
  readonly retry: RetryClass = 'on-change'

  constructor({ field, value, missing }: Pick<Refused, 'field' | 'value'> & { readonly missing: string }) {
    super('One of two annotations has no effect alone', {
      field,
      value,
      cure: `write ${missing} as well, or remove it: until then the Pods behind the Service decide`,
    })
  }
}

/** A Service names a Subnet that its VPC does not have. */
export class ServiceSubnetError extends KubeOvnError<Refused & { readonly vpc: string }> {
  readonly code = 'service-subnet-unknown'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<ServiceSubnetError['details'], 'cure'>) {
    super('The VPC has no such Subnet', {
      ...details,
      cure: 'write the Subnet of the Pods behind the Service, which is served in the VPC all the same',
    })
  }
}

/** Services want one address and port of a VPC to lead to different backends. */
export class FrontendTakenError extends KubeOvnError<
  Refused & {
    /** Who has it: `namespace/name` of a Service. */
    readonly holder: string
  }
> {
  readonly code = 'service-frontend-taken'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<FrontendTakenError['details'], 'cure'>) {
    super('Another Service has this address and port', {
      ...details,
      cure: 'choose another address or port, or take it from the other one: until then this one is not served there',
    })
  }
}
