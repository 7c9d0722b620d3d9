import type { Operation, OperationResult, RowChange } from 'ovsdb-client'
import type { Rows } from './rows.ts'

/** The database as the kernel uses it. An `OvsdbClient` is one. */
export interface Database {
  readonly cache: Rows
  readonly state: { readonly phase: string }
  onState(listener: (state: { readonly phase: string }) => void): Disposable
  /** Hears of every change, the own ones before the transaction that caused them resolves. */
  onChange(listener: (changes: readonly RowChange[]) => void): Disposable
  transact(operations: readonly Operation[]): Promise<readonly OperationResult[]>
}
