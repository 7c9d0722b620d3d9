import { groupTable, rowTable, selectionTable, sourceTable, unionTable } from './declare.ts'
import { StoredRows } from './rows.ts'
import type { AnyTable, Table } from './table.ts'
import { Tables } from './tables.ts'
import { watchedTable, type Causes, type Watch } from './watch.ts'

/* A small graph with a table of each kind. */

export interface Pod {
  readonly name: string
  readonly node: string
  readonly subnet: string
  readonly labels: Readonly<Record<string, string>>
  readonly noise?: number
}

interface Subnet {
  readonly vpc: string
  readonly size: number
}

interface Network {
  readonly vpc: string
  readonly size: number
}

export interface Policy {
  readonly app: string
}

export const pods = sourceTable({
  name: 'pods',
  indexes: { node: (pod: Pod) => [pod.node], subnet: (pod: Pod) => [pod.subnet] },
  isSame: (a, b) => JSON.stringify({ ...a, noise: 0 }) === JSON.stringify({ ...b, noise: 0 }),
})
export const subnets = sourceTable({ name: 'subnets', indexes: { vpc: (subnet: Subnet) => [subnet.vpc] } })
export const policies = sourceTable<Policy>({ name: 'policies' })

export const networks = groupTable({
  name: 'networks',
  of: subnets,
  by: 'vpc',
  rows: (members, _views, vpc) =>
    [...members]
      .filter(([, { size }]) => size < 3)
      .map(([key, { size }]): [string, Network] => [key, { vpc, size }]),
  indexes: { vpc: (network: Network) => [network.vpc] },
})
export const places = rowTable({
  name: 'places',
  of: pods,
  reads: { subnets },
  row: (pod, { subnets }) => {
    const vpc = subnets.get(pod.subnet)?.vpc
    return vpc === undefined ? undefined : { vpc, node: pod.node }
  },
  indexes: { at: ({ vpc, node }) => [`${vpc}/${node}`] },
})
export const vpcs = groupTable({
  name: 'vpcs',
  of: subnets,
  by: 'vpc',
  reads: { networks, places },
  rows: (_members, { networks, places }, vpc) => [
    [
      vpc,
      {
        networks: networks.find('vpc', vpc),
        onFirst: places.keys('at', `${vpc}/n1`),
        isOnSecond: places.some('at', `${vpc}/n2`),
      },
    ],
  ],
})
const guarded = selectionTable({
  name: 'guarded',
  objects: pods,
  object: ({ labels }) => ({ labels }),
  selectors: policies,
  selector: ({ app }) => ({ selector: { matchLabels: { app } } }),
})
export const groups = rowTable({
  name: 'groups',
  of: policies,
  reads: { guarded },
  row: ({ app }, { guarded }, key) => ({ app, members: guarded.keys('selector', key) }),
})

const uses = rowTable({
  name: 'uses',
  of: policies,
  reads: { guarded },
  row: (_policy, { guarded }, key) => guarded.some('selector', key),
})

const shields = rowTable({
  name: 'shields',
  of: pods,
  reads: { guarded },
  row: (_pod, { guarded }, key) => guarded.get(key),
})

const mixed = unionTable({
  name: 'mixed',
  of: { subnet: subnets, network: networks },
  indexes: { vpc: ({ vpc }) => [vpc] },
})
const sizes = groupTable({
  name: 'sizes',
  of: mixed,
  by: 'vpc',
  rows: (members, _views, vpc) => [[vpc, [...members].map(([key, { size }]) => `${key} ${size}`)]],
})

const all: readonly AnyTable[] = [vpcs, groups, uses, shields, sizes]
const derived = { networks, places, vpcs, guarded, groups, uses, shields, mixed, sizes }

/** Sources that a test changes, and tables that follow them. */
export class Fixture {
  readonly tables: Tables
  readonly defects: string[] = []
  readonly told: Causes[] = []
  readonly watch: Watch
  readonly #stores = new Map<AnyTable, StoredRows>()

  constructor() {
    let nowMs = 0
    this.tables = new Tables({
      tables: all,
      onDefect: (table, key) => this.defects.push(`${table} ${key}`),
      monotonic: () => nowMs++,
    })
    for (const table of [pods, subnets, policies] as readonly Table<never>[]) {
      const store = new StoredRows(table.indexes)
      this.#stores.set(table, store)
      this.tables.attach(table, store as never)
    }
    this.watch = this.tables.watch({
      of: [watchedTable(pods)],
      onConcerned: (causes) => void this.told.push(causes),
    })
  }

  put<R, I extends string>(table: Table<R, I>, key: string, row: R | undefined): void {
    const store = this.#stores.get(table)
    const old = store?.get(key) as R | undefined
    store?.put(key, row)
    this.tables.changed(table, key, old, row)
  }

  concerned(): readonly string[] {
    this.tables.settle()
    return this.told
      .splice(0)
      .flatMap((causes) => [...causes].map(([key, cause]) => `${key} by ${String(cause)}`))
      .sort()
  }
}

/** Rows of all derived tables, by the name of each. */
export function contents(tables: Pick<Tables, 'view'>): unknown {
  return Object.fromEntries(
    Object.entries(derived).map(([name, table]) => [name, tables.view(table as AnyTable).scan()]),
  )
}
