import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** Says which input was refused and what would have been right. */
export interface RefusedText {
  /** Where the text came from, e.g. `spec.gateway`; the caller knows. */
  readonly field: string
  /** The text as given. */
  readonly value: string
  /** What the user should write instead. */
  readonly cure: string
}

/** Refuses text that is no IPv4 or IPv6 address. */
export class InvalidIpError extends KubeOvnError<RefusedText> {
  readonly code = 'invalid-ip'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RefusedText) {
    super('invalid IP address', details)
  }
}

/** Refuses text that is no address with a prefix length. */
export class InvalidCidrError extends KubeOvnError<RefusedText> {
  readonly code = 'invalid-cidr'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RefusedText) {
    super('invalid CIDR address', details)
  }
}

/** Refuses a range whose ends are malformed, of two families, or in the wrong order. */
export class InvalidIpRangeError extends KubeOvnError<RefusedText> {
  readonly code = 'invalid-ip-range'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RefusedText) {
    super('invalid IP range', details)
  }
}

/** Refuses a dual-stack list that holds a family twice, or nothing. */
export class InvalidDualStackError extends KubeOvnError<RefusedText> {
  readonly code = 'invalid-dual-stack'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RefusedText) {
    super('invalid dual-stack list', details)
  }
}

/** Refuses text that is no 48-bit MAC address. */
export class InvalidMacError extends KubeOvnError<RefusedText> {
  readonly code = 'invalid-mac'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RefusedText) {
    super('invalid MAC address', details)
  }
}
