import { KubeOvnError } from '@kube-ovn/errors'

/** A program that a build runs ended badly. */
export class BuildProgramError extends KubeOvnError<{
  readonly command: string
  readonly exitCode: number | string
  readonly output: string
}> {
  readonly code = 'build-program-failed'
  readonly retry = 'never'
}

/** Something that a build is made of is not there. */
export class BuildInputMissingError extends KubeOvnError<{ readonly path: string; readonly cure: string }> {
  readonly code = 'build-input-missing'
  readonly retry = 'never'
}
