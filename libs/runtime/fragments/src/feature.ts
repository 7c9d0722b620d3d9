import type { KubeOvnError } from '@kube-ovn/errors'
import type { AnyTable, Table } from '@kube-ovn/tables'
import type { SinkKind } from './sink.ts'

/** What a feature of a node says about one key, as a row of a derived table. No row: nothing is wanted. */
export type Answer<F> =
  /**
   * With a problem: it is with something else that the feature was told, so it is told, and the fragment is used.
   *
   * With `afterMs`: it is used once such an answer has stood for so long, whatever its fragment was meanwhile. Until then it is as if the
   * feature waited.
   */
  | { readonly want: F; readonly problem?: KubeOvnError; readonly afterMs?: number }
  /** What it depends on is not there yet, in words for a log. Whatever was wanted before stays. */
  | { readonly wait: string }
  /** The user must act. Whatever was wanted before stays, and of the targets that it is about, or of all, nothing is taken away. */
  | { readonly problem: KubeOvnError; readonly about?: readonly string[] }

/** The fragments that a feature wants of one sink. */
export interface Contribution {
  readonly sink: SinkKind<never>
  readonly table: AnyTable
}

/** What a feature of a node consists of: tables, and which of them a sink makes true. */
export interface NodeFeature {
  readonly name: string
  readonly contributions: readonly Contribution[]
}

/** Says that the rows of a table are fragments for a sink. */
export function contribution<F, I extends string>(
  sink: SinkKind<F>,
  table: Table<Answer<F>, I>,
): Contribution {
  return { sink, table }
}
