import { KubeOvnError } from '@kube-ovn/errors'

/** A command in or around a test container failed. */
export class CommandFailedError extends KubeOvnError<{
  readonly command: readonly string[]
  readonly exitCode: number | undefined
  readonly output: string
}> {
  readonly code = 'testing-command-failed'
  readonly retry = 'never'

  constructor(command: readonly string[], exitCode: number | undefined, output: string, cause?: unknown) {
    super(
      `command of a test failed: ${command.join(' ')}: ${output}`,
      { command, exitCode, output },
      { cause },
    )
  }
}
