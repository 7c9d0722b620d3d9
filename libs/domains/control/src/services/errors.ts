import { serviceAnnotations, type Annotations } from '@kube-ovn/annotations'
import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import { mostAffinitySeconds } from './affinity.ts'

/** What makes backends differ from node to node, for cures. */
const whatDiffers =
  'what makes them differ (internalTrafficPolicy, externalTrafficPolicy, trafficDistribution)'

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

/** A Service wants clients to be remembered where backends differ from node to node. */
export class AffinityByNodeError extends KubeOvnError<Refused> {
  readonly code = 'service-affinity-by-node'
  readonly retry: RetryClass = 'on-change'

  constructor(seconds: number) {
    super('OVN remembers no clients where backends differ from node to node', {
      field: 'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      value: String(seconds),
      cure: `remove it, or ${whatDiffers}: until then the backend of a client follows from its address`,
    })
  }
}

/** A Service says neither true nor false of whether its backends are asked if they are well. */
export class CheckInvalidError extends KubeOvnError<Refused> {
  readonly code = 'service-check-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Pick<Refused, 'field' | 'value'>) {
    super('Whether backends are asked if they are well is said by true and false', {
      ...details,
      cure: 'write true or false: until then it is as if nothing were written',
    })
  }
}

/** A Service wants its backends asked if they are well, where they differ from node to node. */
export class CheckByNodeError extends KubeOvnError<Refused> {
  readonly code = 'service-check-by-node'
  readonly retry: RetryClass = 'on-change'

  constructor(field: string) {
    super('OVN does not ask backends that differ from node to node whether they are well', {
      field,
      value: 'true',
      cure: `remove it, or ${whatDiffers}: until then nobody is asked there`,
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
