import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'

/** A docker command did not do what it should. */
export class DockerCommandError extends KubeOvnError<{
  readonly command: string
  readonly output: string
  readonly cure: string
}> {
  readonly code = 'testing-docker-command-failed'
  readonly retry: RetryClass = 'never'
}
