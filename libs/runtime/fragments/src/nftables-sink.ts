import { checkTable, type Netfilter, type Table } from '@kube-ovn/netfilter'
import { FragmentConflictError, InvalidFragmentError } from './errors.ts'
import { nothingToDo, type Owner, type Sink, type SinkKind, type SinkPlan, type Wanted } from './sink.ts'

/** All tables of ours begin so: one that a feature no longer wants is removed, and never anybody else's. */
const ownPrefix = 'kube-ovn'

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
    if (!table.name.startsWith(ownPrefix)) {
      const cure = `give a name that begins with ${ownPrefix}`
      throw new InvalidFragmentError({ field: 'name of a table', value: table.name, cure })
    }
    checkTable(table)
  },
}

/** Applies tables whole, each in one transaction, and only when the kernel has another one. */
export class NftablesSink implements Sink<Table> {
  readonly kind = nftables
  readonly #netfilter: Pick<Netfilter, 'applyTable' | 'removeTable' | 'readTable' | 'hasDrifted' | 'watch'>

  constructor(
    netfilter: Pick<Netfilter, 'applyTable' | 'removeTable' | 'readTable' | 'hasDrifted' | 'watch'>,
  ) {
    this.#netfilter = netfilter
  }

  async plan(target: string, { claims }: Wanted<Table>): Promise<SinkPlan> {
    const [holder, ...rivals] = claims
    if (holder === undefined) return this.#removal(target)
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

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#netfilter.watch((event) =>
      listener(event.kind === 'changed' ? targetOf(event.table) : undefined),
    )
  }

  /** Of a table that was wanted until now. */
  async #removal(target: string): Promise<SinkPlan> {
    const [family, name = ''] = target.split(' ')
    const key = { family: family as Table['family'], name }
    if ((await this.#netfilter.readTable(key)) === undefined) return nothingToDo
    return { changes: [`no table ${target}`], carryOut: () => this.#netfilter.removeTable(key) }
  }
}

function targetOf({ family, name }: Pick<Table, 'family' | 'name'>): string {
  return `${family} ${name}`
}
