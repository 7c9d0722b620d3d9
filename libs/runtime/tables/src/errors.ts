import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** Refuses declarations that contradict each other, or a use that was not declared: a defect of the program. */
export class TableDeclarationError extends KubeOvnError<{ readonly table: string; readonly reason: string }> {
  readonly code = 'table-declaration'
  readonly retry: RetryClass = 'never'

  constructor(table: string, reason: string) {
    super('tables are not declared as they are used', { table, reason })
  }
}
