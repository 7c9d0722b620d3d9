import type { KubeObject, ObjectChange, Resource, Store } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import {
  TableDeclarationError,
  Tables,
  type AnyTable,
  type Causes,
  StoredRows,
  watchedTable,
  type Source,
  type Table,
  type TableFork,
  type ViewOf,
  type Watch,
} from '@kube-ovn/tables'
import type { RowBase, RowChange } from 'ovsdb-client'
import type { PutFact } from './facts.ts'
import { objectKeyOf, resourceKey } from './objects.ts'
import type { Rows } from './rows.ts'
import type { DatabaseTable, FactTable, ObjectTable } from './source-tables.ts'

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

/** Told the keys of rows that are other than before, when everything is derived and before any key is observed. */
export type Follow = (keys: ReadonlySet<string>) => void

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
  readonly #logger: Logger
  readonly #ofResource: ReadonlyMap<string, ObjectTable<KubeObject>>
  readonly #ofRows: ReadonlyMap<string, Table<RowBase>>
  readonly #ofFacts: ReadonlyMap<AnyTable, StoredRows>
  readonly #followed = new Map<AnyTable, Watch>()
  #isStarted = false
  #isComplete = false

  /** Throws a TableDeclarationError when a source is not watched. */
  constructor({ tables, store, rows, logger, monotonic }: DerivedTablesOptions) {
    this.#store = store
    this.#logger = logger
    this.#tables = new Tables({
      tables,
      onDefect: (table, key, err) => logger.error('derivation failed', { table, key, err }),
      onChange: () => this.onChange(),
      monotonic,
    })
    const sources = this.#tables.declarations.filter(({ origin }) => origin.kind === 'source')
    for (const table of sources)
      if (!isOfObjects(table) && !isOfRows(table) && !isOfFacts(table))
        throw new TableDeclarationError(table.name, 'a source has objects, rows of the Northbound or facts')
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
    this.#ofFacts = new Map(sources.filter(isOfFacts).map((table) => [table, new StoredRows(table.indexes)]))
    // What is put into a table of facts is of the type of its rows.
    for (const [table, facts] of this.#ofFacts) this.#tables.attach(table, facts as Source<never>)
  }

  /** Rows as they are. Who reads them in its `observe` is woken when they change. */
  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#tables.noted(table)
  }

  /** Follows what keys read. Before the start only. */
  watch(onConcerned: (causes: Causes) => void): Watch {
    return this.#tables.watch({ of: [], onConcerned })
  }

  /**
   * Follows the rows of a table with something that is not derived. Before the start only, of which it is not told: whoever begins
   * reads all rows. Followers are told in the order in which they came.
   */
  follow(table: AnyTable, follow: Follow): void {
    const onConcerned = (causes: Causes): void => {
      if (!this.#isComplete) return
      try {
        follow(new Set(causes.keys()))
      } catch (err) {
        this.#logger.error('follower failed', { table: table.name, err })
      }
    }
    this.#followed.set(table, this.#tables.watch({ of: [watchedTable(table)], onConcerned }))
  }

  /**
   * Derives what there is in slices, each in a turn of the event loop of its own, so that {@link start} has little left to do. What
   * changes meanwhile must be told here, from before the call.
   */
  async prepare(): Promise<void> {
    this.#begin()
    await this.settled()
  }

  /** Has everything derived for the first time, or what {@link prepare} has left. */
  start(): void {
    this.#begin()
    this.#tables.settle()
    this.#isComplete = true
  }

  #begin(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#tables.start()
  }

  /** Puts a row into a table of facts; `undefined` takes it out. */
  readonly put: PutFact = (table, key, row) => {
    const rows = this.#ofFacts.get(table)
    if (rows === undefined) throw new TableDeclarationError(table.name, 'it is none of these tables')
    const old = rows.get(key)
    if (isSameRow(table, old, row)) return false
    rows.put(key, row)
    this.#tables.changed(table, key, old as never, row as never)
    return true
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
    return new DerivedFork(this.#tables.fork(), this.#ofResource, this.#followed)
  }
}

/** Derived tables as they would be after changes of objects. */
export class DerivedFork {
  readonly #fork: TableFork
  readonly #ofResource: ReadonlyMap<string, Table<KubeObject>>
  readonly #followed: ReadonlyMap<AnyTable, Watch>
  readonly #followers = new Map<AnyTable, Follow>()

  constructor(
    fork: TableFork,
    ofResource: ReadonlyMap<string, Table<KubeObject>>,
    followed: ReadonlyMap<AnyTable, Watch>,
  ) {
    this.#fork = fork
    this.#ofResource = ofResource
    this.#followed = followed
  }

  /** As {@link DerivedTables.follow}, in the place of who follows the table there. */
  follow(table: AnyTable, follow: Follow): void {
    this.#followers.set(table, follow)
  }

  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#fork.noted(table)
  }

  put(resource: Resource, { key, new: object }: Pick<ObjectChange, 'key' | 'new'>): void {
    const table = this.#ofResource.get(resourceKey(resource))
    if (table === undefined) return
    this.#fork.put(table, key, object)
    this.#settle()
  }

  /** As {@link DerivedTables.put}. */
  readonly putFact: PutFact = (table, key, row) => {
    if (isSameRow(table, this.#fork.view<AnyTable>(table).get(key), row)) return false
    this.#fork.put(table, key, row as never)
    this.#settle()
    return true
  }

  #settle(): void {
    this.#fork.settle()
    for (const [table, watch] of this.#followed) {
      const causes = this.#fork.watch(watch).takeCauses()
      if (causes.size > 0) this.#followers.get(table)?.(new Set(causes.keys()))
    }
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

function isOfFacts(table: AnyTable): table is FactTable<never> {
  return 'isOfFacts' in table
}

function isSameRow(table: FactTable<never>, a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b
  return table.isSame(a as never, b as never)
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
    keysOf: (index, value) => rows.find(table, index, value).map(({ _uuid }) => _uuid),
    *keys() {
      for (const { _uuid } of rows.scan(table)) yield _uuid
    },
  }
}

/** For worlds in which nothing is derived. */
export function underived(rows: Rows, logger: Logger, monotonic: () => number): DerivedTables {
  return new DerivedTables({ tables: [], store: () => undefined, rows, logger, monotonic })
}
