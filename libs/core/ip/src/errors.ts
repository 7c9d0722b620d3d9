import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Refuses text that is no IPv4 or IPv6 address. */
export class InvalidIpError extends KubeOvnError<Refused> {
  readonly code = 'invalid-ip'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('invalid IP address', details)
  }
}

/** Refuses text that is no address with a prefix length. */
export class InvalidCidrError extends KubeOvnError<Refused> {
  readonly code = 'invalid-cidr'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('invalid CIDR address', details)
  }
}

/** Refuses a range whose ends are malformed, of two families, or in the wrong order. */
export class InvalidIpRangeError extends KubeOvnError<Refused> {
  readonly code = 'invalid-ip-range'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('invalid IP range', details)
  }
}

/** Refuses a dual-stack list that holds a family twice, or nothing. */
export class InvalidDualStackError extends KubeOvnError<Refused> {
  readonly code = 'invalid-dual-stack'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('invalid dual-stack list', details)
  }
}

/** Refuses text that is no 48-bit MAC address. */
export class InvalidMacError extends KubeOvnError<Refused> {
  readonly code = 'invalid-mac'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('invalid MAC address', details)
  }
}
