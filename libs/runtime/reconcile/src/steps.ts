import type { Mutation, NewValue, Uuid } from 'ovsdb-client'
import type { IdMark, OwnerMark } from './marks.ts'

/** One change of a table, still in terms of rows and values; the order of steps in a plan does not matter. */
export type Step = InsertStep | UpdateStep | MutateStep | DeleteStep

export interface InsertStep {
  readonly do: 'insert'
  readonly table: string
  /** The name by which other steps of the plan refer to the new row. */
  readonly name: string
  /** Its id; the server's choice if absent. */
  readonly uuid?: Uuid
  readonly columns: Readonly<Record<string, NewValue>>
}

export interface UpdateStep {
  readonly do: 'update'
  readonly table: string
  readonly uuid: Uuid
  readonly columns: Readonly<Record<string, NewValue>>
}

export interface MutateStep {
  readonly do: 'mutate'
  readonly table: string
  readonly uuid: Uuid
  /** Deletions stand before insertions, because an insertion into a map does not replace an entry. */
  readonly mutations: readonly Mutation[]
}

export interface DeleteStep {
  readonly do: 'delete'
  readonly table: string
  readonly uuid: Uuid
}

/** What a plan does to a row, for counting and explaining. */
export interface RowOutcome {
  readonly outcome: 'inserted' | 'updated' | 'adopted' | 'deleted'
  readonly owner: OwnerMark
  readonly id: IdMark
  readonly table: string
  /** Columns that differ; of a row that is updated. */
  readonly columns?: readonly string[]
}
