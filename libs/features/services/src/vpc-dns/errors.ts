import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** A VpcDns, or the ConfigMap that goes for all, can not be as it is written. What was made of it before stays. */
export class VpcDnsInvalidError extends KubeOvnError<Refused> {
  readonly code = 'vpc-dns-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('the VpcDns can not be used', details, options)
  }
}

/** Another VpcDns answers in the Vpc. Nothing is made of this one. */
export class VpcDnsTakenError extends KubeOvnError<Refused & { readonly holder: string }> {
  readonly code = 'vpc-dns-taken'
  readonly retry: RetryClass = 'on-change'

  constructor({ value, holder }: Pick<VpcDnsTakenError['details'], 'value' | 'holder'>) {
    super('another VpcDns answers in the Vpc', {
      field: 'spec.vpc',
      value,
      holder,
      cure: 'write another Vpc, or delete the VpcDns that was there before: this one is then used',
    })
  }
}

/** Somebody wants no VpcDns in the cluster. What was made goes. */
export class VpcDnsOffError extends KubeOvnError<Refused> {
  readonly code = 'vpc-dns-off'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('name servers of Vpcs are switched off', details)
  }
}

/** Name servers are made, and do not answer at the address, or not on all of its ports. */
export class VpcDnsNotServedError extends KubeOvnError<Refused & { readonly rule: string }> {
  readonly code = 'vpc-dns-not-served'
  readonly retry: RetryClass = 'on-change'

  constructor({ value, rule, workload }: { value: string; rule: string; workload: string }) {
    super('the address of the VpcDns is not answered', {
      field: 'data.coredns-vip',
      value,
      rule,
      cure: `see why in the condition Ready of the SwitchLBRule ${rule}, and in the Pods of the Deployment ${workload}`,
    })
  }
}
