import type { AnyTable, Reads, Table, Views } from './table.ts'

/** Which keys a row of a table is about, whatever they read. */
export interface WatchedTable {
  readonly table: AnyTable
  keys(this: void, row: never, key: string): readonly string[]
}

/** By default a row is about the key that it has itself. */
export function watchedTable<R, I extends string>(
  table: Table<R, I>,
  keys: (row: R, key: string) => readonly string[] = (_row, key) => [key],
): WatchedTable {
  return { table, keys }
}

/** Something that changed; as a text it is for people. */
export interface Cause {
  toString(): string
}

/** For each key, one thing that has changed for it, e.g. `subnets[blue]`. */
export type Causes = ReadonlyMap<string, Cause>

export interface WatchDeclaration {
  /** Tables from which keys come. */
  readonly of: readonly WatchedTable[]
  /** Told once everything is derived. */
  onConcerned(causes: Causes): void
}

/** Follows what keys read of tables, and tells when any of it has changed. */
export interface Watch {
  /** Runs a function for a key; from now on the key is concerned when what the function read changes, even if it threw. */
  read<T extends Reads, R>(key: string, reads: T, read: (views: Views<T>) => R): R
  /** The key reads nothing any more. */
  forget(key: string): void
}

/** A watch of tables that were forked. */
export interface ForkedWatch extends Watch {
  /** The keys for which something is other than in the tables that were forked. */
  readonly concerned: ReadonlySet<string>
  /** The same with their causes, which are then told; what changes afterwards concerns them anew. */
  takeCauses(): Causes
}
