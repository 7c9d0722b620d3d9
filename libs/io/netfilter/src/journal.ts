import type { Multicast, NamespaceReference } from '@kube-ovn/netlink'
import type { Table, TableEvent, TableKey } from './types.ts'
import { watchTables } from './watch.ts'

/**
 * Knows which tables are as they were last seen or written, because the kernel tells of every change, whoever makes it: such a table
 * need not be read again.
 *
 * The kernel queues what it tells before the change returns to who made it, so after taking what has arrived nothing is missed.
 */
export class TableJournal implements Disposable {
  readonly #events: Multicast
  readonly #known = new Map<string, Table>()
  /** What happens to a table while it is read or written. */
  #current: { readonly key: string; changes: number } | undefined

  constructor(netns: NamespaceReference | undefined) {
    this.#events = watchTables(netns, (event) => this.#take(event), {})
  }

  [Symbol.dispose](): void {
    this.#events[Symbol.dispose]()
  }

  /** How a table is; `undefined` if that is to be looked up. */
  known(key: TableKey): Table | undefined {
    this.#events.takeArrived()
    return this.#known.get(tableText(key))
  }

  /**
   * Does what may end with this table, by so many transactions, and answers whether it has. If so, the table is known from then on, unless
   * somebody else came in between.
   */
  async note(table: Table, transactions: 0 | 1, action: () => Promise<boolean>): Promise<boolean> {
    const key = tableText(table)
    this.#events.takeArrived()
    this.#known.delete(key)
    const current = (this.#current = { key, changes: 0 })
    try {
      const isSo = await action()
      this.#events.takeArrived()
      if (isSo && current.changes <= transactions) this.#known.set(key, table)
      return isSo
    } finally {
      this.#current = undefined
    }
  }

  forget(key: TableKey): void {
    this.#known.delete(tableText(key))
  }

  #take(event: TableEvent): void {
    if (event.kind === 'resync') {
      this.#known.clear()
      if (this.#current !== undefined) this.#current.changes = Number.POSITIVE_INFINITY
      return
    }
    const key = tableText(event.table)
    this.#known.delete(key)
    if (this.#current?.key === key) this.#current.changes += 1
  }
}

export function tableText({ family, name }: TableKey): string {
  return `${family} ${name}`
}
