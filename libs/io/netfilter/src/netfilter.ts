import { closeSync, openSync } from 'node:fs'
import { inFreshNamespace, openNetlink, type NamespaceReference } from '@kube-ovn/netlink'
import { NftCommandError } from './errors.ts'
import { TableJournal, tableText } from './journal.ts'
import { parseListing, parseTables, sameListing } from './listing.ts'
import { runNft } from './nft.ts'
import { renderChange } from './render-change.ts'
import { linksOf, renderRemoval, renderReplacement, renderTable } from './render.ts'
import type {
  ApplyOutcome,
  Netfilter,
  NetfilterOptions,
  Table,
  TableEvent,
  TableKey,
  TableListing,
} from './types.ts'
import { watchTables } from './watch.ts'

/** Works on the nftables of this process's network namespace, or of another one. */
export function openNetfilter(options: NetfilterOptions = {}): Netfilter {
  return new NftNetfilter(options)
}

class NftNetfilter implements Netfilter {
  readonly #nft: string
  readonly #netns: string | undefined
  /** For each table the last one wanted, as text, and how nft lists it. */
  readonly #wanted = new Map<string, { readonly input: string; readonly listing: TableListing }>()
  /** Kept while somebody is told of changes. */
  #journal: TableJournal | undefined
  #watches = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor({ nft = 'nft', netns }: NetfilterOptions) {
    this.#nft = nft
    this.#netns = netns
  }

  async applyTable(table: Table): Promise<ApplyOutcome> {
    return this.#inTurn(async () => {
      const change = this.#changeTo(table)
      if (change?.length === 0) return 'unchanged'
      const operation = `apply ${tableText(table)}`
      if (change !== undefined && (await this.#tryChange(table, operation, change))) return 'applied'
      if (await this.#isAsWanted(table)) return 'unchanged'
      await this.#write(table, operation, renderReplacement(table))
      return 'applied'
    })
  }

  async replaceTable(table: Table): Promise<void> {
    return this.#inTurn(() => this.#write(table, `replace ${tableText(table)}`, renderReplacement(table)))
  }

  async removeTable(key: TableKey): Promise<void> {
    return this.#inTurn(async () => {
      this.#wanted.delete(tableText(key))
      this.#journal?.forget(key)
      if ((await this.#list(this.#netns, key)) === undefined) return
      await this.#commit(this.#netns, `remove ${tableText(key)}`, renderRemoval(key))
    })
  }

  async readTable(key: TableKey): Promise<TableListing | undefined> {
    return this.#inTurn(() => this.#list(this.#netns, key))
  }

  async listTables(): Promise<readonly TableKey[]> {
    return this.#inTurn(async () => {
      const args = ['--json', 'list', 'tables']
      return parseTables(await runNft({ nft: this.#nft, netns: this.#netns, args, operation: 'list tables' }))
    })
  }

  async hasDrifted(table: Table): Promise<boolean> {
    return this.#inTurn(async () => {
      const change = this.#changeTo(table)
      return change === undefined ? !(await this.#isAsWanted(table)) : change.length > 0
    })
  }

  watch(listener: (event: TableEvent) => void, options: { readonly ref?: boolean } = {}): Disposable {
    this.#journal ??= new TableJournal(this.#netns)
    this.#watches += 1
    const stack = new DisposableStack()
    stack.defer(() => {
      this.#watches -= 1
      if (this.#watches > 0) return
      this.#journal?.[Symbol.dispose]()
      this.#journal = undefined
    })
    stack.use(watchTables(this.#netns, listener, options))
    return stack
  }

  /** What is to be done to a table of which it is known how it is; `undefined` where it is not, or the table must be replaced. */
  #changeTo(table: Table): readonly object[] | undefined {
    const known = this.#journal?.known(table)
    if (known === undefined) return undefined
    return known === table ? [] : renderChange(known, table)
  }

  /** That it is refused may be because somebody else was faster: the table is looked up then. */
  async #tryChange(table: Table, operation: string, change: readonly object[]): Promise<boolean> {
    try {
      await this.#write(table, operation, change)
      return true
    } catch (error) {
      if (error instanceof NftCommandError) return false
      throw error
    }
  }

  async #isAsWanted(table: Table): Promise<boolean> {
    return this.#noting(table, 0, async () => {
      const present = await this.#list(this.#netns, table)
      return present !== undefined && sameListing(present, await this.#listingOf(table))
    })
  }

  async #write(table: Table, operation: string, commands: readonly object[]): Promise<void> {
    await this.#noting(table, 1, async () => {
      await this.#commit(this.#netns, operation, commands)
      return true
    })
  }

  async #noting(table: Table, transactions: 0 | 1, action: () => Promise<boolean>): Promise<boolean> {
    if (this.#journal === undefined) return action()
    const isSo = await this.#journal.note(table, transactions, action)
    // It is not asked for again while the table is known, and may be large.
    if (isSo) this.#wanted.delete(tableText(table))
    return isSo
  }

  /**
   * Finds out how nft lists a table, by loading it into an empty namespace that no packet passes.
   *
   * nft lists expressions in another form than it reads them, and each version in its own; comparing listing with listing
   * needs no knowledge of that. The answer is kept until another table of this name is wanted.
   */
  async #listingOf(table: Table): Promise<TableListing | undefined> {
    const key = tableText(table)
    const commands = renderTable(table)
    const input = JSON.stringify(commands)
    const known = this.#wanted.get(key)
    if (known?.input === input) return known.listing
    const scratch = openScratch(linksOf(table))
    try {
      await this.#commit(scratch, `try ${key}`, commands)
      const listing = await this.#list(scratch, table)
      if (listing !== undefined) this.#wanted.set(key, { input, listing })
      return listing
    } finally {
      closeSync(scratch)
    }
  }

  async #list(netns: NamespaceReference | undefined, key: TableKey): Promise<TableListing | undefined> {
    const { family, name } = key
    try {
      const printed = await runNft({
        nft: this.#nft,
        netns,
        args: ['--json', 'list', 'table', family, name],
        operation: `list ${tableText(key)}`,
      })
      return parseListing(printed)
    } catch (error) {
      if (
        error instanceof NftCommandError &&
        error.details.nftMessage.includes('No such file or directory')
      ) {
        return undefined
      }
      throw error
    }
  }

  async #commit(
    netns: NamespaceReference | undefined,
    operation: string,
    commands: readonly object[],
  ): Promise<void> {
    const input = JSON.stringify({ nftables: commands })
    await runNft({ nft: this.#nft, netns, args: ['--json', '--file', '-'], input, operation })
  }

  /** Runs after everything that was asked for before, so that what was compared is what is replaced. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action, action)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** A namespace that no packet passes, with links of these names. */
function openScratch(links: readonly string[]): number {
  return inFreshNamespace(() => {
    using host = openNetlink()
    for (const [at, name] of links.entries()) host.createVeth({ name, peer: { name: `peer-${at}` } })
    return openSync('/proc/thread-self/ns/net', 'r')
  })
}
