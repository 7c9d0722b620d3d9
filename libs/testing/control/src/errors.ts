import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** A recomputation of every key from scratch found something that the changes so far should have led to. */
export class NotEqualToFullError extends KubeOvnError<{ readonly left: readonly string[] }> {
  readonly code = 'testing-not-equal-to-full'
  readonly retry: RetryClass = 'never'

  constructor(left: readonly string[]) {
    super(`recomputing everything would still change something:\n${left.join('\n')}`, { left })
  }
}

/** The controller wrote rows that it would not know again without its marks, so that it could not take them over from upstream. */
export class UnadoptableError extends KubeOvnError<{ readonly rows: readonly string[] }> {
  readonly code = 'testing-unadoptable'
  readonly retry: RetryClass = 'never'

  constructor(rows: readonly string[]) {
    super(`rows would not be adopted:\n${rows.join('\n')}`, { rows })
  }
}

/** Rows are in the Northbound that are of no object as far as `kubectl ko explain` knows. */
export class UnexplainedError extends KubeOvnError<{ readonly rows: readonly string[] }> {
  readonly code = 'testing-unexplained'
  readonly retry: RetryClass = 'never'

  constructor(rows: readonly string[]) {
    super(`nobody could say which object rows are of:\n${rows.join('\n')}`, { rows })
  }
}

/** The controller asked for something that its ServiceAccount has no right to. */
export class MissingRightError extends KubeOvnError<{ readonly rights: readonly string[] }> {
  readonly code = 'testing-missing-right'
  readonly retry: RetryClass = 'never'

  constructor(rights: readonly string[]) {
    super(`the chart gives no right to what the controller does:\n${rights.join('\n')}`, { rights })
  }
}

/** Features read what nothing tells them of when it changes, or write what they give no example of. */
export class UndeclaredError extends KubeOvnError<{ readonly what: readonly string[] }> {
  readonly code = 'testing-undeclared'
  readonly retry: RetryClass = 'never'

  constructor(what: readonly string[]) {
    super(`features do what they do not declare:\n${what.join('\n')}`, { what })
  }
}
