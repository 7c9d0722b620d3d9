import type { KubeObject, ObjectChange, Resource, Store } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import {
  TableDeclarationError,
  Tables,
  type AnyTable,
  type Causes,
  type Source,
  type Table,
  type TableFork,
  type ViewOf,
  type Watch,
} from '@kube-ovn/tables'
import type { RowBase, RowChange } from 'ovsdb-client'
import { objectKeyOf, resourceKey } from './objects.ts'
import type { Rows } from './rows.ts'
import type { DatabaseTable, ObjectTable } from './source-tables.ts'

/** Nothing else waits longer for tables than this. */
export const sliceMs = 10

interface DerivedTablesOptions {
  /** What features read; whatever these are made from comes along. */
  readonly tables: Iterable<AnyTable>
  /** The objects of a resource, as features see them. */
  readonly store: (resource: Resource) => Store<KubeObject> | undefined
  readonly rows: Rows
  readonly logger: Logger
  /** Milliseconds, from any beginning. */
  monotonic(): number
}

/**
 * Derived tables that follow objects and the Northbound.
 *
 * Features read them through views that note who reads what. They are made before the world and the kernel, so that both
 * can have them, and begin to derive when caches and stores are complete.
 */
export class DerivedTables {
  /** Called when something waits to be derived, and did not before. */
  onChange: () => void = () => undefined
  readonly #tables: Tables
  readonly #store: DerivedTablesOptions['store']
  readonly #ofResource: ReadonlyMap<string, ObjectTable<KubeObject>>
  readonly #ofRows: ReadonlyMap<string, Table<RowBase>>
  #isStarted = false

  /** Throws a TableDeclarationError when a source is not watched. */
  constructor({ tables, store, rows, logger, monotonic }: DerivedTablesOptions) {
    this.#store = store
    this.#tables = new Tables({
      tables,
      onDefect: (table, key, err) => logger.error('derivation failed', { table, key, err }),
      onChange: () => this.onChange(),
      monotonic,
    })
    const sources = this.#tables.declarations.filter(({ origin }) => origin.kind === 'source')
    for (const table of sources)
      if (!isOfObjects(table) && !isOfRows(table))
        throw new TableDeclarationError(table.name, 'a source has objects or rows of the Northbound')
    // The type of a source's rows is that of its resource, or of its table of the database.
    this.#ofResource = new Map(
      sources.filter(isOfObjects).map((table) => [resourceKey(table.resource), table]),
    )
    this.#ofRows = new Map(
      sources.filter(isOfRows).map((table) => [table.rowsOf, table as unknown as Table<RowBase>]),
    )
    for (const table of this.#ofResource.values()) {
      const objects = store(table.resource)
      if (objects === undefined) throw new TableDeclarationError(table.name, 'its resource is not watched')
      this.#tables.attach(table, sourceOfStore(objects))
    }
    for (const [name, table] of this.#ofRows) this.#tables.attach(table, sourceOfRows(name, rows))
  }

  /** Rows as they are. Who reads them in its `observe` is woken when they change. */
  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#tables.noted(table)
  }

  /** Follows what keys read. Before the start only. */
  watch(onConcerned: (causes: Causes) => void): Watch {
    return this.#tables.watch({ of: [], onConcerned })
  }

  /** Derives everything for the first time. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#tables.start()
    this.#tables.settle()
  }

  /** Takes in that an object has changed; its store has the new one already. */
  objectChanged(resource: Resource, { key, old }: ObjectChange): void {
    const table = this.#ofResource.get(resourceKey(resource))
    if (table !== undefined) this.#tables.changed(table, key, old, this.#store(resource)?.get(key))
  }

  /** Takes in rows that have changed in the cache. */
  rowsChanged(changes: readonly RowChange[]): void {
    for (const { table: name, uuid, old, new: row } of changes) {
      const table = this.#ofRows.get(name)
      if (table !== undefined) this.#tables.changed(table, uuid, old, row)
    }
  }

  get isSettled(): boolean {
    return this.#tables.isSettled
  }

  /** Derives what waits, for about that long at most, and tells of what is then different. Answers whether nothing waits. */
  settle(budgetMs?: number): boolean {
    return this.#tables.isSettled || this.#tables.settle(budgetMs)
  }

  /** Derives all that waits, a slice in each turn of the event loop. */
  async settled(): Promise<void> {
    while (!this.settle(sliceMs)) await new Promise((resolve) => void setImmediate(resolve))
  }

  /** A copy in which changes of objects can be tried; nothing else may change while it is used. */
  fork(): DerivedFork {
    this.settle()
    return new DerivedFork(this.#tables.fork(), this.#ofResource)
  }
}

/** Derived tables as they would be after changes of objects. */
export class DerivedFork {
  readonly #fork: TableFork
  readonly #ofResource: ReadonlyMap<string, Table<KubeObject>>

  constructor(fork: TableFork, ofResource: ReadonlyMap<string, Table<KubeObject>>) {
    this.#fork = fork
    this.#ofResource = ofResource
  }

  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#fork.noted(table)
  }

  put(resource: Resource, { key, new: object }: Pick<ObjectChange, 'key' | 'new'>): void {
    const table = this.#ofResource.get(resourceKey(resource))
    if (table === undefined) return
    this.#fork.put(table, key, object)
    this.#fork.settle()
  }

  read<R>(watch: Watch, key: string, read: () => R): R {
    return this.#fork.watch(watch).read(key, {}, read)
  }

  /** Keys of a watch that are concerned by what was put since it was last asked. */
  concerned(watch: Watch): Iterable<string> {
    return this.#fork.watch(watch).takeCauses().keys()
  }
}

function isOfObjects(table: AnyTable): table is ObjectTable<KubeObject> & AnyTable {
  return 'resource' in table
}

function isOfRows(table: AnyTable): table is DatabaseTable<never> & AnyTable {
  return 'rowsOf' in table
}

function sourceOfStore(store: Store<KubeObject>): Source<KubeObject> {
  return {
    get: (key) => store.get(key),
    keysOf: (index, value) => store.find(index, value).map(({ metadata }) => objectKeyOf(metadata)),
    *keys() {
      for (const { metadata } of store.values()) yield objectKeyOf(metadata)
    },
  }
}

function sourceOfRows(table: string, rows: Rows): Source<RowBase> {
  return {
    get: (uuid) => rows.get(table, uuid),
    // A declaration of rows has no indexes.
    keysOf: () => [],
    *keys() {
      for (const { _uuid } of rows.scan(table)) yield _uuid
    },
  }
}
