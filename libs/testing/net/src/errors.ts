import { KubeOvnError } from '@kube-ovn/errors'

/** Says that a command of a test failed, and what it printed. */
export class CommandFailedError extends KubeOvnError<{
  readonly command: string
  readonly status: number | string
  readonly output: string
}> {
  readonly code = 'test-command-failed'
  readonly retry = 'never'

  constructor(details: CommandFailedError['details'], options?: ErrorOptions) {
    // A test report shows the message only.
    super(`${details.command}: ${details.output.trim() || details.status}`, details, options)
  }
}
