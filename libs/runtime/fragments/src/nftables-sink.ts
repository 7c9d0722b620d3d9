import { checkTable, type Netfilter, type Table, type TableKey } from '@kube-ovn/netfilter'
import { FragmentConflictError, InvalidFragmentError } from './errors.ts'
import { nothingToDo, type Owner, type Sink, type SinkKind, type SinkPlan, type Wanted } from './sink.ts'

/** All tables of ours are called so, or begin so: one that nobody wants any more is removed, and never anybody else's. */
const ownName = 'kube-ovn'
const ownPrefix = `${ownName}-`

/**
 * A table of the packet filter for each feature.
 *
 * The kernel takes a table whole or not at all, so what shares one shares its mistakes. Tables do not know of each other: in which
 * order their chains see a packet is decided by hook and priority alone.
 */
export const nftables: SinkKind<Table> = {
  name: 'nftables',
  targets: (table) => [targetOf(table)],
  validate(table) {
    if (!isOwnTable(table)) {
      const cure = `give a name that begins with ${ownPrefix}`
      throw new InvalidFragmentError({ field: 'name of a table', value: table.name, cure })
    }
    checkTable(table)
  },
}

type TableAccess = Pick<
  Netfilter,
  'applyTable' | 'removeTable' | 'readTable' | 'listTables' | 'hasDrifted' | 'watch'
>

/** Applies tables whole, each in one transaction, and only when the kernel has another one. */
export class NftablesSink implements Sink<Table> {
  readonly kind = nftables
  readonly #netfilter: TableAccess

  constructor(netfilter: TableAccess) {
    this.#netfilter = netfilter
  }

  async plan(target: string, { claims, isComplete }: Wanted<Table>): Promise<SinkPlan> {
    const [holder, ...rivals] = claims
    if (holder === undefined) return isComplete ? this.#removal(target) : nothingToDo
    const table = holder.fragment
    const refused = new Map<Owner, FragmentConflictError>()
    for (const { owner } of rivals) {
      const cure = `give a table of its own a name that begins with ${ownPrefix}`
      const details = { field: 'name of a table', value: table.name, holder: holder.owner, cure }
      refused.set(owner, new FragmentConflictError(details))
    }
    if (!(await this.#netfilter.hasDrifted(table))) return { ...nothingToDo, refused }
    return {
      changes: [`table ${target}`],
      refused,
      carryOut: async () => void (await this.#netfilter.applyTable(table)),
    }
  }

  async owned(): Promise<readonly string[]> {
    const tables = await this.#netfilter.listTables()
    return tables.filter(isOwnTable).map(targetOf)
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#netfilter.watch((event) =>
      listener(event.kind === 'changed' ? targetOf(event.table) : undefined),
    )
  }

  /** Of a table of ours that nobody wants. */
  async #removal(target: string): Promise<SinkPlan> {
    const [family, name = ''] = target.split(' ')
    const key = { family: family as Table['family'], name }
    if ((await this.#netfilter.readTable(key)) === undefined) return nothingToDo
    return { changes: [`no table ${target}`], carryOut: () => this.#netfilter.removeTable(key) }
  }
}

/** Whether a table is ours, by its name. */
export function isOwnTable({ name }: TableKey): boolean {
  return name === ownName || name.startsWith(ownPrefix)
}

function targetOf({ family, name }: TableKey): string {
  return `${family} ${name}`
}
