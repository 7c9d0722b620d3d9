import { KubeOvnError } from '@kube-ovn/errors'

/** Says that this process has no right to a socket that sends ICMP. */
export class EchoSocketDeniedError extends KubeOvnError<{
  readonly family: string
  readonly errno: string
  readonly cure: string
}> {
  readonly code = 'echo-socket-denied'
  readonly retry = 'on-change'

  constructor(details: { readonly family: string; readonly errno: string }) {
    super('no right to a socket of ICMP', {
      ...details,
      cure: 'set net.ipv4.ping_group_range of the pod so that it has the group of this process',
    })
  }
}

/** Says that the kernel made no socket for ICMP, or did not take a packet: there is no route, or no such family. */
export class EchoFailedError extends KubeOvnError<{
  readonly operation: string
  readonly family: string
  readonly errno: string
}> {
  readonly code = 'echo-failed'
  readonly retry = 'backoff'

  constructor(details: EchoFailedError['details']) {
    super('kernel refused an echo request', details)
  }
}
