import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** There can be no address set of an IPPool. The addresses themselves are handed out all the same. */
export class AddressSetInvalidError extends KubeOvnError<
  Refused & {
    readonly pool: string
  }
> {
  readonly code = 'ip-pool-address-set-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: AddressSetInvalidError['details']) {
    super('there can be no address set of the IPPool', details)
  }
}

/** An IPPool that is being deleted has addresses that are in use. */
export class IpPoolInUseError extends KubeOvnError<{
  readonly pool: string
  /** Who has which addresses, the first few of them. */
  readonly holders: readonly string[]
  readonly count: number
  readonly cure: string
}> {
  readonly code = 'ip-pool-in-use'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<IpPoolInUseError['details'], 'cure'>) {
    super('the IPPool is kept until its addresses are free', {
      ...details,
      cure: 'delete their holders, or give them other addresses',
    })
  }
}
