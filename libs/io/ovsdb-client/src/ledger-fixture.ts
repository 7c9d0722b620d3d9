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

/**
 * Asks every member what is not as it should be: an entry that is missing, there twice or counted twice, or was
 * committed twice according to the log. The cluster must be whole again.
 */
export async function discrepancies(
  cluster: NorthboundCluster,
  ledgers: readonly Ledger[],
): Promise<readonly string[]> {
  const wanted = new Set(ledgers.flatMap((ledger) => ledger.names))
  const log = (await cluster.transactionLog()).flatMap(({ comment }) => comment ?? [])
  const found = log.filter((comment, n) => comment.startsWith('entry ') && log.indexOf(comment) < n)
  for (const member of cluster.members) {
    // It may have to catch up.
    await member.ask('wait-until', 'NB_Global', '.', `nb_cfg>=${wanted.size}`)
    const count = await member.ask('get', 'NB_Global', '.', 'nb_cfg')
    if (Number(count) !== wanted.size) found.push(`${member.ip} counts ${count}, not ${wanted.size}`)
    const names = (await member.ask('--bare', '--columns=name', 'list', 'Logical_Switch')).split(/\n+/)
    const has = new Set(names)
    found.push(...names.filter((name) => !wanted.has(name)).map((name) => `${member.ip} has ${name}`))
    found.push(...[...wanted].filter((name) => !has.has(name)).map((name) => `${member.ip} lacks ${name}`))
    if (names.length !== has.size) found.push(`${member.ip} has ${names.length} rows of ${has.size} entries`)
  }
  return found
}
