import { SelectionIndex } from '@kube-ovn/label-selector'
import { TableInputs, type Dependent, type Input } from './inputs.ts'
import { ForkedRows, guardedIndexes, StoredRows, type Rows, type UntypedIndexes } from './rows.ts'
import { SelectionRows } from './selection-rows.ts'
import type { AnyTable, IndexFunction } from './table.ts'
import type { Cause, Causes, WatchDeclaration } from './watch.ts'

/** What was read for a key, and which rows came of it. */
export interface Group extends Dependent {
  /** Keys of its rows; absent where a row has the key of the group. */
  rowKeys?: readonly string[]
}

/** A table at work: its rows, who reads them, and what waits to be looked at. */
export class TableNode {
  readonly table: AnyTable
  readonly place: number
  readonly inputs: TableInputs
  readonly groups = new Map<string, Group>()
  /** Groups; of a selection, objects. */
  readonly waiting = new Set<string>()
  readonly waitingSelectors = new Set<string>()
  /** The group that gave each row, in tables of groups. */
  readonly givers = new Map<string, string | undefined>()
  /** What fails on a row has no values for it. */
  readonly indexes: UntypedIndexes
  /** As they were declared: they may fail. */
  readonly indexFunctions: readonly (readonly [name: string, valuesOf: IndexFunction<unknown>])[]
  rows: Rows

  constructor(table: AnyTable, place: number, base?: TableNode) {
    this.table = table
    this.place = place
    this.inputs = new TableInputs(table.name)
    this.indexes = guardedIndexes(table.indexes)
    this.indexFunctions = Object.entries<IndexFunction<unknown>>(table.indexes)
    this.rows = rowsFor(table, this.indexes, base?.rows)
  }

  /** Whether anything is to be looked at. */
  get isWaiting(): boolean {
    return this.waiting.size > 0 || this.waitingSelectors.size > 0
  }
}

/** Whoever follows what keys read. */
export class WatchNode {
  readonly declaration: WatchDeclaration
  readonly place: number
  readonly groups = new Map<string, Group>()
  causes = new Map<string, Cause>()

  constructor(declaration: WatchDeclaration, place: number) {
    this.declaration = declaration
    this.place = place
  }

  /** Gives away what is concerned. */
  takeCauses(): Causes {
    const { causes } = this
    this.causes = new Map()
    return causes
  }
}

export function groupOf(node: TableNode | WatchNode, key: string): Group {
  const known = node.groups.get(key)
  if (known !== undefined) return known
  const group: Group = { node: node.place, key, inputs: none }
  node.groups.set(key, group)
  return group
}

/** Notes what a group has read in the place of what it had read before. */
export function link(group: Group, inputs: ReadonlySet<Input>): void {
  if (areAll(group.inputs, inputs)) return
  for (const input of group.inputs) if (!inputs.has(input)) input.delete(group)
  group.inputs = listOf(inputs)
  for (const input of inputs) input.add(group)
}

/** Many groups have read their own rows alone. */
const none: readonly Input[] = []

/** So many of those who have read an input as well are asked for a list of the same. */
const askedForList = 4

/** Most have read what others have, as pods of one namespace do: they share the list. */
function listOf(inputs: ReadonlySet<Input>): readonly Input[] {
  const [first] = inputs
  if (first === undefined) return none
  let asked = 0
  for (const { inputs: list } of first.dependents()) {
    if (areAll(list, inputs)) return list
    if (++asked === askedForList) break
  }
  return [...inputs]
}

function areAll(list: readonly Input[], inputs: ReadonlySet<Input>): boolean {
  return list.length === inputs.size && list.every((input) => inputs.has(input))
}

/** A group that is no more has read nothing. */
export function unlink(node: TableNode | WatchNode, key: string): void {
  const group = node.groups.get(key)
  if (group === undefined) return
  for (const input of group.inputs) input.delete(group)
  node.groups.delete(key)
}

function rowsFor({ origin }: AnyTable, indexes: UntypedIndexes, base: Rows | undefined): Rows {
  if (base instanceof SelectionRows) return new SelectionRows(base.selection.fork())
  if (base !== undefined) return new ForkedRows(base, indexes)
  return origin.kind === 'selection' ? new SelectionRows(new SelectionIndex()) : new StoredRows(indexes)
}
