import { KubeOvnError } from '@kube-ovn/errors'

/** Says that a daemon of Open vSwitch or OVN is not there, may not be asked, or does not answer. */
export class DaemonUnreachableError extends KubeOvnError<{
  /** Its control socket, or the file with its process id. */
  readonly path: string
  readonly reason: string
}> {
  readonly code = 'daemon-unreachable'
  readonly retry = 'backoff'

  constructor(details: DaemonUnreachableError['details'], options?: ErrorOptions) {
    super('a daemon does not answer', details, options)
  }
}

/** Says that a daemon answered a command with an error. */
export class DaemonRefusedError extends KubeOvnError<{
  readonly path: string
  readonly method: string
  readonly reason: string
}> {
  readonly code = 'daemon-refused'
  readonly retry = 'on-change'

  constructor(details: DaemonRefusedError['details']) {
    super('a daemon refused a command', details)
  }
}
