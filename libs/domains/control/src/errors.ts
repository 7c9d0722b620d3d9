import { KubeOvnError } from '@kube-ovn/errors'

/** Two features, or a feature and the domains, want one resource watched, or one flag read, in different ways. */
export class ConflictingDeclarationError extends KubeOvnError<{
  /** A resource, or a flag. */
  readonly subject: string
  /** In what they differ. */
  readonly field: string
  readonly by: readonly string[]
  readonly cure: string
}> {
  readonly code = 'conflicting-declaration'
  readonly retry = 'never'

  constructor(details: Omit<ConflictingDeclarationError['details'], 'cure'>) {
    const cure = 'declare it once, in the domain of both'
    super('one thing is declared in different ways', { ...details, cure })
  }
}

/** A feature reads objects of a resource that it has not declared. */
export class UndeclaredWatchError extends KubeOvnError<{ readonly resource: string; readonly cure: string }> {
  readonly code = 'undeclared-watch'
  readonly retry = 'never'

  constructor(resource: string) {
    super('a resource is not watched', { resource, cure: 'add it to the watches of the feature' })
  }
}

/** A feature patches a resource of which its watch keeps a part, and does not say what. */
export class UndeclaredWritesError extends KubeOvnError<{
  readonly by: string
  readonly resource: string
  readonly cure: string
}> {
  readonly code = 'undeclared-writes'
  readonly retry = 'never'

  constructor(by: string, resource: string) {
    const cure = 'give an example of what is written, in the right of the feature'
    super('nobody says what is written of objects of which a part is kept', { by, resource, cure })
  }
}

/** A feature reads a flag that it has not declared. */
export class UndeclaredFlagError extends KubeOvnError<{ readonly flag: string; readonly cure: string }> {
  readonly code = 'undeclared-flag'
  readonly retry = 'never'

  constructor(flag: string) {
    super('a flag is not declared', { flag, cure: 'add it to the flags of the feature' })
  }
}
