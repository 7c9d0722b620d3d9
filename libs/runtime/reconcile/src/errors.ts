import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** Two features declare the same row kind, so each would undo what the other does. */
export class KindClaimedTwiceError extends KubeOvnError<{
  kind: string
  features: readonly string[]
  cure: string
}> {
  readonly code = 'reconcile-kind-claimed-twice'
  readonly retry: RetryClass = 'never'
  constructor(kind: string, features: readonly string[]) {
    super('a row kind is claimed by two features', {
      kind,
      features,
      cure: 'remove the kind from one of them',
    })
  }
}

/** A kind names a table or column that the database's schema lacks. */
export class UnknownTableError extends KubeOvnError<{
  kind: string
  table: string
  column: string | undefined
  cure: string
}> {
  readonly code = 'reconcile-unknown-table'
  readonly retry: RetryClass = 'never'
  constructor(kind: string, table: string, column: string | undefined) {
    super('a row kind names what the schema lacks', { kind, table, column, cure: 'run a newer database' })
  }
}

/** A kind's table has no `external_ids`, so its rows could not say whose they are. */
export class UnmarkableTableError extends KubeOvnError<{ kind: string; table: string }> {
  readonly code = 'reconcile-unmarkable-table'
  readonly retry: RetryClass = 'never'
  constructor(kind: string, table: string) {
    super('rows of a kind cannot be marked for lack of external_ids', { kind, table })
  }
}

/** A kind composes a column whose values could be those of others. */
export class UncomposableColumnError extends KubeOvnError<{
  kind: string
  table: string
  column: string
  cure: string
}> {
  readonly code = 'reconcile-uncomposable-column'
  readonly retry: RetryClass = 'never'
  constructor(kind: string, table: string, column: string) {
    super('a composed column is not a shared set or map of plain values', {
      kind,
      table,
      column,
      cure: 'list it in shared, or not in composed',
    })
  }
}

/** A desired state breaks the feature's own declaration or the schema. A defect of the feature. */
export class InvalidDesiredError extends KubeOvnError<{
  owner: string
  row: string
  column: string | undefined
  problem: string
}> {
  readonly code = 'reconcile-invalid-desired'
  readonly retry: RetryClass = 'never'
  constructor(owner: string, row: string, column: string | undefined, problem: string) {
    super('a desired state is not valid', { owner, row, column, problem })
  }
}

/** Two keys want the same row. The first keeps it; the other waits until it is free. */
export class RowClaimedTwiceError extends KubeOvnError<{
  row: string
  owner: string
  holder: string
  cure: string
}> {
  readonly code = 'reconcile-row-claimed-twice'
  readonly retry: RetryClass = 'backoff'
  constructor(row: string, owner: string, holder: string) {
    super('a row is wanted by two keys', {
      row,
      owner,
      holder,
      cure: 'rename or delete one of the two objects',
    })
  }
}

/** A row would have what only one row of its table may have, its name mostly, and which another one has. It waits until that is free. */
export class RowNameTakenError extends KubeOvnError<{
  table: string
  value: string
  owner: string
  holder: string
  cure: string
}> {
  readonly code = 'reconcile-row-name-taken'
  readonly retry: RetryClass = 'backoff'
  constructor(taken: { table: string; value: string; owner: string; holder: string }, options: ErrorOptions) {
    const cure = 'rename or delete one of the two objects'
    super('a row would have the name of another one', { ...taken, cure }, options)
  }
}

/** Two keys want an entry of a map to be different. Who had it first keeps it; the other one has the rest of what it wants. */
export class EntryClaimedTwiceError extends KubeOvnError<{
  field: string
  value: string
  owner: string
  holder: string
  cure: string
}> {
  readonly code = 'reconcile-entry-claimed-twice'
  readonly retry: RetryClass = 'backoff'
  constructor(field: string, value: string, owner: string, holder: string) {
    super('an entry of a map is wanted by two keys', {
      field,
      value,
      owner,
      holder,
      cure: 'change or delete one of the two objects',
    })
  }
}

/** A patch names a resource that no informer watches, so it is unknown whether anything differs. */
export class UnwatchedResourceError extends KubeOvnError<{ owner: string; group: string; plural: string }> {
  readonly code = 'reconcile-unwatched-resource'
  readonly retry: RetryClass = 'never'
  constructor(owner: string, group: string, plural: string) {
    super('a patched resource is not watched', { owner, group, plural })
  }
}

/** A patch names what the watch of its resource leaves out, so that it would be sent for ever. A defect of the feature. */
export class TrimmedFieldError extends KubeOvnError<{
  owner: string
  resource: string
  field: string
  cure: string
}> {
  readonly code = 'reconcile-trimmed-field'
  readonly retry: RetryClass = 'never'
  constructor(owner: string, resource: string, field: string) {
    super('a patched field is trimmed away', {
      owner,
      resource,
      field,
      cure: 'keep the field in the trim of the watch',
    })
  }
}

/** The API server took a configuration, and has it not: an admission webhook may have changed it. */
export class NotAppliedError extends KubeOvnError<{
  resource: string
  name: string
  field: string
  cure: string
}> {
  readonly code = 'reconcile-not-applied'
  readonly retry: RetryClass = 'backoff'
  constructor(resource: string, name: string, field: string) {
    super('an applied object is not as it was applied', {
      resource,
      name,
      field,
      cure: 'look for an admission webhook that changes the field',
    })
  }
}

/** After a successful commit the database still differs from what is desired, twice in a row. */
export class NotSettledError extends KubeOvnError<{ owner: string; differences: readonly string[] }> {
  readonly code = 'reconcile-not-settled'
  readonly retry: RetryClass = 'backoff'
  constructor(owner: string, differences: readonly string[]) {
    super('rows differ from what was just committed', { owner, differences })
  }
}

/** A change was to be planned in a world of which no copy can be made. */
export class NoForkError extends KubeOvnError<{ cure: string }> {
  readonly code = 'reconcile-no-fork'
  readonly retry: RetryClass = 'never'
  constructor() {
    super('a change cannot be planned without a copy of the world', { cure: 'give the kernel a forkWorld' })
  }
}
