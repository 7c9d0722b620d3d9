import type { Atom, Mutation, Uuid } from 'ovsdb-client'
import type { MutateStep } from './steps.ts'
import { tokenOf, type Element, type MapDifference } from './values.ts'

interface ColumnEdit {
  readonly insert: Map<string, Element>
  readonly delete: Map<string, Atom>
  readonly put: Record<string, Element>
  readonly remove: Set<string>
  /** Entries to remove if they still are what they were. */
  readonly take: Record<string, Atom>
}

/**
 * Collects what is to be added to and taken from columns of existing rows.
 *
 * The contributions of all keys to one row become one operation, however many keys there are.
 */
export class Edits {
  readonly #rows = new Map<Uuid, { readonly table: string; readonly columns: Map<string, ColumnEdit> }>()

  insert(table: string, uuid: Uuid, column: string, element: Element): void {
    this.#edit(table, uuid, column).insert.set(tokenOf(element), element)
  }

  delete(table: string, uuid: Uuid, column: string, atom: Atom): void {
    this.#edit(table, uuid, column).delete.set(tokenOf(atom), atom)
  }

  changeMap(table: string, uuid: Uuid, column: string, difference: MapDifference): void {
    const edit = this.#edit(table, uuid, column)
    Object.assign(edit.put, difference.put)
    for (const key of difference.remove) edit.remove.add(key)
  }

  putEntry(table: string, uuid: Uuid, column: string, key: string, element: Element): void {
    this.#edit(table, uuid, column).put[key] = element
  }

  /** Removes an entry, unless somebody has changed it meanwhile. */
  takeEntry(table: string, uuid: Uuid, column: string, key: string, atom: Atom): void {
    this.#edit(table, uuid, column).take[key] = atom
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
    return columns.getOrInsertComputed(column, () => ({
      insert: new Map(),
      delete: new Map(),
      put: {},
      remove: new Set(),
      take: {},
    }))
  }
}

function mutationsOf(column: string, edit: ColumnEdit): readonly Mutation[] {
  const mutations: Mutation[] = []
  // What one key lets go and another still wants stays.
  const removed = [...edit.delete].filter(([token]) => !edit.insert.has(token)).map(([, atom]) => atom)
  if (removed.length > 0) mutations.push([column, 'delete', removed])
  if (edit.insert.size > 0) mutations.push([column, 'insert', [...edit.insert.values()]])
  if (edit.remove.size > 0) mutations.push([column, 'delete', [...edit.remove]])
  if (Object.keys(edit.take).length > 0) mutations.push([column, 'delete', edit.take])
  if (Object.keys(edit.put).length > 0) mutations.push([column, 'insert', edit.put])
  return mutations
}
