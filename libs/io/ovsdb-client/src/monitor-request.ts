import { isReadableAs, parseColumnType } from './column-type.ts'
import { encodeCondition } from './condition.ts'
import { ProtocolError, RequestRefusedError } from './errors.ts'
import type { TableLayout } from './layout.ts'
import type { Path } from './long-message.ts'
import type { Session } from './session.ts'
import type { TableUpdates } from './table-updates.ts'
import type { Condition, DatabaseSchema, TableSchema, Uuid } from './types.ts'

/** The <monitor-cond-requests> of ovsdb-server(7), section 4.1.12: table → what of it. */
export type MonitorRequests = Readonly<Record<string, readonly [MonitorRequest]>>

interface MonitorRequest {
  readonly columns: readonly string[]
  readonly where?: WireConditions
}

/** Conditions of which any may hold. Of none at all, the server would think that all rows are meant. */
export type WireConditions = readonly (readonly unknown[] | boolean)[]

/** Writes the conditions of a table. Throws `SchemaMismatchError`. */
export function wireConditions(
  schema: DatabaseSchema,
  table: string,
  where: readonly Condition[],
): WireConditions {
  return where.length === 0 ? [false] : where.map((condition) => encodeCondition(schema, table, condition))
}

/**
 * Puts together what to ask for of what the server offers.
 *
 * `missing` are the tables (`T`) and columns (`T.c`) that it lacks, or has with a type that could not be read as ours.
 */
export function planRequests(
  layouts: readonly TableLayout[],
  conditions: ReadonlyMap<string, WireConditions>,
  offered: DatabaseSchema,
): { readonly requests: MonitorRequests; readonly missing: readonly string[] } {
  const requests: Record<string, readonly [MonitorRequest]> = {}
  const missing: string[] = []
  for (const { name, columns } of layouts) {
    const table = offered.tables[name]
    if (table === undefined) {
      missing.push(name)
      continue
    }
    const present = [...columns].flatMap(([column, type]) => {
      const theirs = table.columns[column]
      return theirs !== undefined && isReadableAs(type, parseColumnType(theirs)) ? [column] : []
    })
    const lacking = [...columns.keys()].filter((column) => !present.includes(column))
    missing.push(...lacking.map((column) => `${name}.${column}`))
    const where = conditions.get(name)
    const isKnown = where?.every((condition) => hasColumn(table, condition)) === true
    requests[name] = [{ columns: present, ...(isKnown ? { where } : {}) }]
  }
  return { requests, missing }
}

function hasColumn(table: TableSchema, condition: readonly unknown[] | boolean): boolean {
  return typeof condition === 'boolean' || condition[0] === '_uuid' || String(condition[0]) in table.columns
}

/** The <monitor-cond-update-requests> of ovsdb-server(7), section 4.1.13, that lead from one request to another. */
export function conditionChanges(
  from: MonitorRequests,
  to: MonitorRequests,
): Readonly<Record<string, unknown>> {
  const changes: Record<string, unknown> = {}
  for (const [table, [{ where = [true] }]] of Object.entries(to)) {
    const before = from[table]?.[0].where ?? [true]
    if (JSON.stringify(before) !== JSON.stringify(where)) changes[table] = [{ where }]
  }
  return changes
}

/** Newest first: since Open vSwitch 2.12, since 2.6, and that of RFC 7047. */
const methods = ['monitor_cond_since', 'monitor_cond', 'monitor'] as const

export type MonitorMethod = (typeof methods)[number]

/** The contents that a monitor starts with. */
interface InitialContents {
  /** Whether `updates` is what came after the transaction that was asked about; else it is everything. */
  readonly isResumed: boolean
  readonly contents: Contents
}

export interface Contents {
  /** The last transaction included, for a server that can resume. */
  readonly transaction: Uuid | undefined
  readonly updates: TableUpdates
}

/** Rows of one table. */
export interface PartOfUpdates {
  readonly table: string
  readonly rows: TableUpdates[string]
}

interface Receiver {
  /** Is given rows while the rest is still arriving. They are missing in the contents. */
  take(isResumed: boolean, part: PartOfUpdates): void
  /** Is given the initial contents, before any later update is heard of. */
  accept(initial: InitialContents): void
}

/** Starts a monitor by the newest method that the server knows. */
export async function requestMonitor(
  session: Session,
  [database, requests, since]: readonly [string, MonitorRequests, Uuid],
  receiver: Receiver,
): Promise<MonitorMethod> {
  for (const method of methods) {
    const params = [database, database, method === 'monitor' ? withoutConditions(requests) : requests]
    if (method === 'monitor_cond_since') params.push(since)
    try {
      await session.request(method, params, (result) => receiver.accept(initialContents(method, result)), {
        takePart: ({ whole, path, members }) => {
          const part = partOfUpdates(path, members)
          const isResumed: unknown = Array.isArray(whole) ? whole[0] : undefined
          if (part === undefined || typeof isResumed !== 'boolean') return false
          receiver.take(isResumed, part)
          return true
        },
      })
      return method
    } catch (error) {
      if (method === 'monitor' || !isUnknownMethod(error)) throw error
    }
  }
  throw new ProtocolError('no method to monitor', methods)
}

/** Tells whether a server refused a request because it is too old for it. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof RequestRefusedError && error.details.error === 'unknown method'
}

function withoutConditions(requests: MonitorRequests): unknown {
  return Object.fromEntries(Object.entries(requests).map(([table, [{ columns }]]) => [table, [{ columns }]]))
}

function initialContents(method: MonitorMethod, result: unknown): InitialContents {
  if (method !== 'monitor_cond_since') {
    const updates = method === 'monitor' ? fromUpdate(result) : result
    return { isResumed: false, contents: { transaction: undefined, updates: updates as TableUpdates } }
  }
  const [isResumed, transaction, updates] = Array.isArray(result) ? (result as readonly unknown[]) : []
  if (typeof isResumed === 'boolean' && typeof transaction === 'string' && typeof updates === 'object') {
    return { isResumed, contents: { transaction, updates: updates as TableUpdates } }
  }
  throw new ProtocolError('answer to monitor_cond_since is not understood', result)
}

/** Reads a part of the answer to `monitor_cond_since`, or of an `update3`; `undefined` for a part of something else. */
export function partOfUpdates(path: Path, members: object): PartOfUpdates | undefined {
  const [index, table] = path
  if (index !== 2 || typeof table !== 'string') return undefined
  return { table, rows: members as TableUpdates[string] }
}

/** Reads an `update` (RFC 7047, section 4.1.6), `update2` or `update3` notification, without the monitor's id. */
export function readUpdate(method: string, [, ...params]: readonly unknown[]): Contents {
  if (method === 'update') return { transaction: undefined, updates: fromUpdate(params[0]) }
  if (method === 'update2') return { transaction: undefined, updates: params[0] as TableUpdates }
  const [transaction, updates] = params
  if (typeof transaction !== 'string') throw new ProtocolError('update without a transaction id', transaction)
  return { transaction, updates: updates as TableUpdates }
}

/**
 * Says the <table-updates> of RFC 7047 in the terms of update2.
 *
 * Its `new` has all columns monitored, so a modified row is told like a new one.
 */
function fromUpdate(updates: unknown): TableUpdates {
  return mapValues(updates, (rows) =>
    mapValues(rows, (row) => {
      const fresh = (row as { readonly new?: Readonly<Record<string, unknown>> } | null)?.new
      return fresh === undefined ? { delete: null } : { insert: fresh }
    }),
  )
}

function mapValues<V>(record: unknown, map: (value: unknown) => V): Readonly<Record<string, V>> {
  if (typeof record !== 'object' || record === null) {
    throw new ProtocolError('update is not an object of tables and rows', record)
  }
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
