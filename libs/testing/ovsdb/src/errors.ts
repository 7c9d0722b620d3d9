import { KubeOvnError } from '@kube-ovn/errors'

/** A server did not say what a test waited for: it refused the question, or ended. */
export class UnansweredError extends KubeOvnError<{
  readonly address: string
  /** What the server sent instead; empty when it ended. */
  readonly answer: string
}> {
  readonly code = 'testing-unanswered'
  readonly retry = 'never'

  constructor(address: string, answer: string) {
    // A test report shows the message only.
    super(`no answer from ${address}: ${answer || 'it ended the connection'}`, { address, answer })
  }
}

/** No Docker engine answers, or one that is not on this machine was asked for. */
export class EngineUnavailableError extends KubeOvnError<{
  readonly address: string
  readonly reason: string
}> {
  readonly code = 'testing-no-docker-engine'
  readonly retry = 'never'

  constructor(address: string, reason: string, cause?: unknown) {
    const cure =
      reason === 'EACCES'
        ? 'run it as root, or as a member of the group docker'
        : 'install and start Docker (apt-get install docker.io; systemctl start docker), or set DOCKER_HOST to the socket of an engine of this machine'
    // A test report shows the message only.
    super(`no Docker engine answers at ${address} (${reason}): ${cure}`, { address, reason }, { cause })
  }
}
