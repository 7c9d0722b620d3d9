import { randomUUID } from 'node:crypto'
import { externalId } from '@kube-ovn/ovn-names'
import {
  DuplicateUuidError,
  TransactionOutcomeUnknownError,
  type NewValue,
  type RowChange,
  type Uuid,
} from 'ovsdb-client'
import { markColumn } from './marks.ts'
import { isArray, type Rows } from './rows.ts'
import type { InsertStep, Step } from './steps.ts'
import { asMap, isNamed, type Element } from './values.ts'

/** So many rows may be in doubt; of older ones it is forgotten. */
const mostDoubtful = 10_000

/**
 * The ids of new rows, chosen here and not by the server.
 *
 * A server may carry a transaction out long after its client has gone: one that stood still with the request in its buffer, and is led by
 * another meanwhile. The row that its client has inserted anew by then has the same id, so that the late transaction is refused.
 */
export class RowIds {
  /** Of rows that may have been inserted or not, by what they are. */
  readonly #doubtful = new Map<string, Uuid>()
  readonly #rows: Pick<Rows, 'get'>

  constructor(rows: Pick<Rows, 'get'>) {
    this.#rows = rows
  }

  /** Gives each new row an id, the same one if it was in doubt before, and writes it wherever a step names the row. */
  give(steps: readonly Step[]): readonly Step[] {
    const ids = new Map<string, Uuid>()
    for (const step of steps) if (step.do === 'insert') ids.set(step.name, this.#idOf(step))
    return ids.size === 0 ? steps : steps.map((step) => withIdsOfNew(step, ids))
  }

  /** Takes note of what came of steps: committed, or why not. One that was refused says nothing of one before it. */
  learn(steps: readonly Step[], failure?: unknown): void {
    const isDoubtful = failure instanceof TransactionOutcomeUnknownError
    const isThereNow = failure === undefined || failure instanceof DuplicateUuidError
    if (!isDoubtful && (!isThereNow || this.#doubtful.size === 0)) return
    for (const step of steps) {
      const place = step.do === 'insert' ? placeOf(step) : undefined
      if (step.do !== 'insert' || step.uuid === undefined || place === undefined) continue
      this.#doubtful.delete(place)
      const isThere = this.#rows.get(step.table, step.uuid) !== undefined
      if (isDoubtful && !isThere) this.#doubtful.set(place, step.uuid)
    }
    for (const place of this.#doubtful.keys()) {
      if (this.#doubtful.size <= mostDoubtful) break
      this.#doubtful.delete(place)
    }
  }

  /** Rows that are there are in doubt no more. */
  follow(changes: readonly RowChange[]): void {
    if (this.#doubtful.size === 0) return
    const there = new Set(changes.flatMap((change) => (change.new === undefined ? [] : [change.uuid])))
    for (const [place, uuid] of this.#doubtful) if (there.has(uuid)) this.#doubtful.delete(place)
  }

  #idOf(step: InsertStep): Uuid {
    const place = this.#doubtful.size === 0 ? undefined : placeOf(step)
    return (place === undefined ? undefined : this.#doubtful.get(place)) ?? randomUUID()
  }
}

/** What a new row is, by its mark; `undefined` for one that can not be marked. */
function placeOf({ table, columns }: InsertStep): string | undefined {
  const id = asMap(columns[markColumn])[externalId.id]
  return typeof id === 'string' ? `${table} ${id}` : undefined
}

function withIdsOfNew(step: Step, ids: ReadonlyMap<string, Uuid>): Step {
  switch (step.do) {
    case 'insert': {
      const uuid = ids.get(step.name)
      return { ...step, ...(uuid === undefined ? {} : { uuid }), columns: columnsWithIds(step.columns, ids) }
    }
    case 'update':
      return { ...step, columns: columnsWithIds(step.columns, ids) }
    case 'mutate':
      return {
        ...step,
        mutations: step.mutations.map(([column, mutator, value]) => [column, mutator, withIds(value, ids)]),
      }
    case 'delete':
      return step
  }
}

function columnsWithIds(
  columns: Readonly<Record<string, NewValue>>,
  ids: ReadonlyMap<string, Uuid>,
): Readonly<Record<string, NewValue>> {
  return Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, withIds(value, ids)]))
}

/** The value with the ids of new rows in the place of their names. */
function withIds(value: NewValue, ids: ReadonlyMap<string, Uuid>): NewValue {
  if (value === undefined || typeof value !== 'object') return value
  if (isArray(value))
    return value.some((element) => typeof element === 'object')
      ? value.map((element) => withId(element, ids))
      : value
  if (isNamed(value)) return withId(value, ids)
  const entries = Object.entries(asMap(value))
  if (!entries.some(([, element]) => typeof element === 'object')) return value
  return Object.fromEntries(entries.map(([key, element]) => [key, withId(element, ids)]))
}

function withId(element: Element, ids: ReadonlyMap<string, Uuid>): Element {
  return typeof element === 'object' ? (ids.get(element.named) ?? element) : element
}
