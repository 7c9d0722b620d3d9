import type { Operation, OperationResult, RowChange } from 'ovsdb-client'
import type { Rows } from './rows.ts'

/** `missing`, when connected: the tables (`T`) and columns (`T.c`) that the server does not have. */
export interface DatabaseState {
  readonly phase: string
  readonly missing?: readonly string[]
}

/** The database as the kernel uses it. An `OvsdbClient` is one. */
export interface Database {
  readonly cache: Rows
  readonly state: DatabaseState
  onState(listener: (state: DatabaseState) => void): Disposable
  /** Hears of every change, the own ones before the transaction that caused them resolves. */
  onChange(listener: (changes: readonly RowChange[]) => void): Disposable
  transact(operations: readonly Operation[]): Promise<readonly OperationResult[]>
}
