import type { Uuid } from 'ovsdb-client'
import type { Container } from './containers.ts'
import type { Edits } from './edits.ts'
import type { OwnerMark } from './marks.ts'
import type { NewRow } from './new-row.ts'
import type { ResolveRequest, Resolution } from './resolve.ts'
import type { RowOutcome } from './steps.ts'

/** State of a plan in the making. */
export interface Draft {
  readonly request: ResolveRequest
  readonly resolution: Resolution
  readonly edits: Edits
  /** The rows to be inserted, by their names. */
  readonly inserts: Map<string, NewRow>
  readonly touched: Set<OwnerMark>
  readonly outcomes: RowOutcome[]
  /** Weak references to rows that go. */
  readonly dropped: { readonly from: Container; readonly to: Uuid }[]
}
