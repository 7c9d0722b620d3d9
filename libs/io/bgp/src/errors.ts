import { KubeOvnError, type Refused } from '@kube-ovn/errors'
import { describeNotification } from './notification.ts'

/** Says that a peer sent what is no message of BGP, or not the one that was due: it is told so, and the session ends. */
export class BgpMessageError extends KubeOvnError<{
  /** Code and subcode of the NOTIFICATION (RFC 4271, section 4.5). */
  readonly errorCode: number
  readonly subcode: number
  readonly reason: string
}> {
  readonly code = 'bgp-message-invalid'
  readonly retry = 'backoff'
  /** What the NOTIFICATION carries beside them. */
  readonly data: Buffer

  constructor(errorCode: number, subcode: number, data: Buffer = Buffer.alloc(0)) {
    super('message of a BGP peer is refused', {
      errorCode,
      subcode,
      reason: describeNotification(errorCode, subcode),
    })
    this.data = data
  }
}

/** Says that the kernel made no TCP connection for BGP, or did not listen for one. */
export class BgpSocketError extends KubeOvnError<{
  readonly operation: string
  readonly address: string
  readonly errno: string
}> {
  readonly code = 'bgp-socket-failed'
  readonly retry = 'backoff'

  constructor(details: BgpSocketError['details']) {
    super('kernel refused a connection for BGP', details)
  }
}

/** Refuses a setting of a peer or of the speaker: a number out of range, a password that is too long. */
export class BgpConfigInvalidError extends KubeOvnError<Refused> {
  readonly code = 'bgp-config-invalid'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('setting of BGP is refused', details)
  }
}
