import { KubeOvnError } from '@kube-ovn/errors'

/** A command that the fixture needs is missing or failed. */
export class FixtureError extends KubeOvnError<{
  readonly what: string
  readonly output: string
  readonly cure: string
}> {
  readonly code = 'kube-fixture'
  readonly retry = 'never'
}
