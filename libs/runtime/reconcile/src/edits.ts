import type { Atom, Mutation, Uuid } from 'ovsdb-client'
import type { MutateStep } from './steps.ts'
import { tokenOf, type Element, type MapDifference } from './values.ts'

/** Most columns of a plan have one value more, and nothing else: what is not there is not made. */
interface ColumnEdit {
  insert?: Map<string, Element>
  delete?: Map<string, Atom>
  put?: Record<string, Element>
  remove?: Set<string>
  /** Entries to remove if they still are what they were. */
  take?: Record<string, Atom>
}

/**
 * Collects what is to be added to and taken from columns of existing rows.
 *
 * The contributions of all keys to one row become one operation, however many keys there are.
 */
export class Edits {
  readonly #rows = new Map<Uuid, { readonly table: string; readonly columns: Map<string, ColumnEdit> }>()

  insert(table: string, uuid: Uuid, column: string, element: Element): void {
    const edit = this.#edit(table, uuid, column)
    edit.insert ??= new Map()
    edit.insert.set(tokenOf(element), element)
  }

  delete(table: string, uuid: Uuid, column: string, atom: Atom): void {
    const edit = this.#edit(table, uuid, column)
    edit.delete ??= new Map()
    edit.delete.set(tokenOf(atom), atom)
  }

  changeMap(table: string, uuid: Uuid, column: string, difference: MapDifference): void {
    const edit = this.#edit(table, uuid, column)
    edit.put = Object.assign(edit.put ?? {}, difference.put)
    edit.remove ??= new Set()
    for (const key of difference.remove) edit.remove.add(key)
  }

  putEntry(table: string, uuid: Uuid, column: string, key: string, element: Element): void {
    const edit = this.#edit(table, uuid, column)
    edit.put ??= {}
    edit.put[key] = element
  }

  /** Removes an entry, unless somebody has changed it meanwhile. */
  takeEntry(table: string, uuid: Uuid, column: string, key: string, atom: Atom): void {
    const edit = this.#edit(table, uuid, column)
    edit.take ??= {}
    edit.take[key] = atom
  }

  /** Whether anything is to be changed in a row. */
  has(uuid: Uuid): boolean {
    return this.#rows.has(uuid)
  }

  steps(): readonly MutateStep[] {
    return [...this.#rows].flatMap(([uuid, { table, columns }]) => {
      const mutations = [...columns].flatMap(([column, edit]) => mutationsOf(column, edit))
      return mutations.length === 0 ? [] : [{ do: 'mutate', table, uuid, mutations }]
    })
  }

  #edit(table: string, uuid: Uuid, column: string): ColumnEdit {
    const { columns } = this.#rows.getOrInsertComputed(uuid, () => ({ table, columns: new Map() }))
    return columns.getOrInsertComputed(column, () => ({}))
  }
}

function mutationsOf(column: string, edit: ColumnEdit): readonly Mutation[] {
  const mutations: Mutation[] = []
  // What one key lets go and another still wants stays.
  const removed = [...(edit.delete ?? [])].flatMap(([token, atom]) =>
    edit.insert?.has(token) === true ? [] : [atom],
  )
  if (removed.length > 0) mutations.push([column, 'delete', removed])
  if (edit.insert !== undefined) mutations.push([column, 'insert', [...edit.insert.values()]])
  if (edit.remove !== undefined && edit.remove.size > 0) mutations.push([column, 'delete', [...edit.remove]])
  if (hasKeys(edit.take)) mutations.push([column, 'delete', edit.take])
  if (hasKeys(edit.put)) mutations.push([column, 'insert', edit.put])
  return mutations
}

function hasKeys<T extends object>(record: T | undefined): record is T {
  return record !== undefined && Object.keys(record).length > 0
}
