import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** The command line asks for something that there is not, or lacks something. */
export class UsageError extends KubeOvnError<Refused> {
  readonly code = 'ko-usage'
  readonly retry: RetryClass = 'never'

  constructor(field: string, value: string, cure: string) {
    super('command line is wrong', { field, value, cure })
  }
}

/** The cluster has no object of this name. */
export class ObjectMissingError extends KubeOvnError<Refused> {
  readonly code = 'ko-object-missing'
  readonly retry: RetryClass = 'on-change'

  constructor(field: string, value: string, cure: string) {
    super('there is no such object', { field, value, cure })
  }
}

/** No pod of a component is there to be asked. */
export class ComponentMissingError extends KubeOvnError<Refused> {
  readonly code = 'ko-component-missing'
  readonly retry: RetryClass = 'backoff'

  constructor(field: string, value: string, cure: string) {
    super('no pod of the component can be asked', { field, value, cure })
  }
}

/** A database, or ovn-northd, has no leader, or none that is known. */
export class LeaderMissingError extends KubeOvnError<Refused> {
  readonly code = 'ko-leader-missing'
  readonly retry: RetryClass = 'backoff'

  constructor(field: string, value: string, cure: string) {
    super('leader not exists', { field, value, cure })
  }
}

/** An object lacks what the command needs of it. */
export class NotReadyError extends KubeOvnError<Refused> {
  readonly code = 'ko-not-ready'
  readonly retry: RetryClass = 'on-change'

  constructor(field: string, value: string, cure: string) {
    super('object is not ready for that', { field, value, cure })
  }
}

/** What was made for a while is still there. */
export class RemnantsError extends KubeOvnError<Refused> {
  readonly code = 'ko-remnants'
  readonly retry: RetryClass = 'on-change'

  constructor(what: string, cure: string, options?: ErrorOptions) {
    super('what was made could not be taken away again', { field: 'objects', value: what, cure }, options)
  }
}

/** A command in a pod ended with an error. */
export class CommandFailedError extends KubeOvnError<{
  readonly pod: string
  readonly command: string
  readonly exitCode: number
  readonly answer: string
  readonly cure: string
}> {
  readonly code = 'ko-command-failed'
  readonly retry: RetryClass = 'on-change'

  constructor(details: CommandFailedError['details'], options?: ErrorOptions) {
    super('command in a pod failed', details, options)
  }
}

/** The controller does not tell what would come of a change. */
export class PlanRefusedError extends KubeOvnError<Refused> {
  readonly code = 'ko-plan-refused'
  readonly retry: RetryClass = 'on-change'

  constructor(field: string, value: string) {
    super('the controller told no plan', { field, value, cure: 'correct what it says, and ask again' })
  }
}
