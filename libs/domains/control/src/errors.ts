import { KubeOvnError } from '@kube-ovn/errors'

/** Two features, or a feature and the domains, watch one resource in different ways. */
export class ConflictingDeclarationError extends KubeOvnError<{
  readonly resource: string
  /** In what they differ. */
  readonly field: string
  readonly by: readonly string[]
  readonly cure: string
}> {
  readonly code = 'conflicting-declaration'
  readonly retry = 'never'

  constructor(details: Omit<ConflictingDeclarationError['details'], 'cure'>) {
    const cure = 'declare the watch once, in the domain of both'
    super('one resource is watched in different ways', { ...details, cure })
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
