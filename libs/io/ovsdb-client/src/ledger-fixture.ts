import { expect } from 'vitest'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { NorthboundCluster } from '@kube-ovn/testing-ovsdb'
import type { OvsdbClient } from './client.ts'
import { TransactionOutcomeUnknownError } from './errors.ts'

/**
 * Writes entries through a client until it is stopped, a few at a time, each in a transaction of its own.
 *
 * An entry is a switch; the transaction adds one to `NB_Global.nb_cfg`, too, so that one applied twice shows in any
 * number of ways. After a failure the ledger does as every client must: it waits for the connection and looks into
 * the cache before it writes again.
 */
export class Ledger implements AsyncDisposable {
  /** Entries that are in the database for certain. */
  readonly names: string[] = []
  /** Transactions of which nothing was heard. */
  failures = 0
  readonly #client: OvsdbClient<OvnNorthbound>
  readonly #prefix: string
  readonly #writers: Promise<void[]>
  #next = 0
  #isStopped = false
  #waiters: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(client: OvsdbClient<OvnNorthbound>, prefix: string) {
    this.#client = client
    this.#prefix = prefix
    this.#writers = Promise.all(Array.from({ length: 4 }, () => this.#write()))
  }

  /** Resolves when so many more entries have been written. */
  async more(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiters.push({ count: this.names.length + count, resolve })
    await Promise.race([promise, this.#writers])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    await this.#writers
  }

  async #write(): Promise<void> {
    while (!this.#isStopped) {
      const name = `${this.#prefix}${this.#next++}`
      await this.#enter(name)
      this.names.push(name)
      const reached = this.#waiters.filter(({ count }) => this.names.length >= count)
      this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter))
      for (const { resolve } of reached) resolve()
    }
  }

  async #enter(name: string): Promise<void> {
    const { cache, operations } = this.#client
    for (;;) {
      await this.#client.connect()
      if (cache.find('Logical_Switch', 'name', name).length > 0) return
      const [global] = cache.scan('NB_Global')
      if (global === undefined) throw new Error('NB_Global has no row')
      try {
        await this.#client.transact([
          operations.insert('Logical_Switch', { name }),
          operations.mutate('NB_Global', global._uuid, [['nb_cfg', '+=', 1]]),
          operations.comment(`entry ${name}`),
        ])
      } catch (error) {
        if (!(error instanceof TransactionOutcomeUnknownError)) throw error
        this.failures++
        continue
      }
      // The promise of `transact`: what it did is in the cache by now.
      const { length } = cache.find('Logical_Switch', 'name', name)
      if (length !== 1) throw new Error(`entry ${name} is ${length} times in the cache`)
      return
    }
  }
}

/** Removes the entries of earlier tests, and begins to count anew. */
export async function clearLedger(cluster: NorthboundCluster): Promise<void> {
  const { server } = await cluster.leader()
  await server.transact([
    { op: 'delete', table: 'Logical_Switch', where: [] },
    { op: 'update', table: 'NB_Global', where: [], row: { nb_cfg: 0 } },
  ])
}

/** Asks every member: each entry is there, once, and was counted once. The cluster must be whole again. */
export async function expectOnce(cluster: NorthboundCluster, ledgers: readonly Ledger[]): Promise<void> {
  const names = ledgers.flatMap((ledger) => ledger.names).toSorted()
  const log = await cluster.transactionLog()
  const logged = log.flatMap(({ comment }) => comment?.match(/^entry (.*)$/)?.[1] ?? [])
  expect(logged.length).toBe(new Set(logged).size)
  const seen = cluster.members.map(async (member) => {
    await member.connected()
    // It may have to catch up.
    await member.nbctl('wait-until', 'NB_Global', '.', `nb_cfg=${names.length}`)
    return (await member.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')).split(/\n+/).toSorted()
  })
  expect(await Promise.all(seen)).toEqual(cluster.members.map(() => names))
}
