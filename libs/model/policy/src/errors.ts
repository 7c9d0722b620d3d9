import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Refuses a part of a policy, of which the rest is in effect: nothing more is allowed because of it. */
export class PolicyInvalidError extends KubeOvnError<Refused> {
  readonly code = 'policy-invalid'
  readonly retry = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('policy is invalid', details, options)
  }
}

/** Says that a policy names a DNS name, and that names are not followed. Nothing more is allowed because of it. */
export class NameNotFollowedError extends KubeOvnError<Refused> {
  readonly code = 'policy-name-not-followed'
  readonly retry = 'on-change'

  constructor({ field, value, until }: Pick<Refused, 'field' | 'value'> & { readonly until: string }) {
    const cure = `start the controller with --enable-dns-name-resolver (features.ENABLE_DNS_NAME_RESOLVER), or write networks; ${until}`
    super('DNS names are not followed', { field, value, cure })
  }
}

/** Says that a DNS name has no resolver, because that of another name of the policy has to be called the same. */
export class NameContestedError extends KubeOvnError<Refused> {
  readonly code = 'policy-name-contested'
  readonly retry = 'on-change'

  constructor({ field, value, other }: Pick<Refused, 'field' | 'value'> & { readonly other: string }) {
    const cure = `create a DNSNameResolver of the name yourself, called as you like (that of ${other} is called as it would be); until then no address of it is known, and the rule is not about it`
    super('the resolver of a DNS name would have the name of another one', { field, value, cure })
  }
}

/** Says that nobody was given an address of a DNS name that a rule denies, so that nothing is denied yet. */
export class NameUnknownError extends KubeOvnError<Refused> {
  readonly code = 'policy-name-unknown'
  readonly retry = 'on-change'

  constructor({ field, value }: Pick<Refused, 'field' | 'value'>) {
    const cure =
      'ask for the name from a Pod, and if that changes nothing see to it that CoreDNS has the plugin dnsnameresolver; until an address is known the rule denies none'
    super('no address of a DNS name is known', { field, value, cure })
  }
}
