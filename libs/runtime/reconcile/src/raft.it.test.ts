import { type ClusterMember, NorthboundCluster, type TransactionRecord } from '@kube-ovn/testing-ovsdb'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { emptySettings, startProcess, type Settings } from './kernel-fixture.ts'

let cluster: NorthboundCluster

beforeAll(async () => {
  cluster = await NorthboundCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())
beforeEach(async () => {
  const { server } = await cluster.leader()
  await server.transact([{ op: 'delete', table: 'Logical_Switch', where: [] }])
})
afterEach(() => cluster.heal())

type Process = Awaited<ReturnType<typeof startProcess>>

interface Fault {
  readonly name: string
  readonly strike: (leader: ClusterMember) => Promise<unknown>
  readonly mend: (leader: ClusterMember) => Promise<unknown>
  /** Nobody can write before it is mended. */
  readonly isStandstill?: true
}

/** It may still live: a fault that was armed needs an occasion. */
async function revive({ server }: ClusterMember): Promise<void> {
  await server.kill().catch(() => undefined)
  await server.start()
}

const faults: readonly Fault[] = [
  { name: 'the leader is killed', strike: (leader) => leader.server.kill(), mend: revive },
  {
    name: 'the leader dies with an entry that the others have',
    strike: (leader) => leader.arm('crash-after-sending-append-request'),
    mend: revive,
  },
  {
    name: 'the leader hands over with an entry under way',
    strike: (leader) => leader.arm('transfer-leadership-after-sending-append-request'),
    mend: async () => undefined,
  },
  {
    name: 'the leader is cut off',
    strike: (leader) => cluster.partition([leader]),
    mend: () => cluster.heal(),
  },
  {
    name: 'the leader freezes',
    strike: (leader) => leader.server.freeze(),
    mend: (leader) => leader.server.thaw(),
  },
  {
    name: 'all are killed after a snapshot',
    strike: async () => {
      await Promise.all(cluster.members.map((member) => member.compact()))
      await Promise.all(cluster.members.map(({ server }) => server.kill()))
    },
    mend: () => Promise.all(cluster.members.map(revive)),
    isStandstill: true,
  },
]

const containers = ['switch0', 'switch1', 'switch2']

/** What users do: some switches come, go and change, and so do ports on others. */
const edit = fc.oneof(
  fc.record({ kind: fc.constant('switch' as const), key: fc.nat(5), n: fc.option(fc.nat(3)) }),
  fc.record({ kind: fc.constant('port' as const), key: fc.nat(30), n: fc.option(fc.nat(8)) }),
)

/**
 * Edits the world until it is stopped, and lets the kernel follow.
 *
 * Dispose of it before the process: a kernel that is closed is always quiet, and edits would leave nobody else a turn.
 */
class Users implements Disposable {
  readonly #process: Process
  readonly #world: Settings
  readonly #edits
  readonly #editing: Promise<void>
  #isStopped = false

  constructor(process: Process, world: Settings, seed: number) {
    this.#process = process
    this.#world = world
    this.#edits = fc.sample(edit, { seed, numRuns: 1000 })
    this.#editing = this.#edit()
  }

  /** Resolves when the database has changed so many times more. */
  async changes(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let seen = 0
    using _subscription = this.#process.client.onChange(() => {
      if (++seen === count) resolve()
    })
    await Promise.race([promise, this.#editing])
  }

  async stop(): Promise<void> {
    this[Symbol.dispose]()
    await this.#editing
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
  }

  async #edit(): Promise<void> {
    for (let n = 0; !this.#isStopped; n = (n + 1) % this.#edits.length) {
      const one = this.#edits[n]
      if (one !== undefined) await this.#process.change(one.kind, this.#apply(one))
    }
  }

  #apply({ kind, key, n }: typeof edit extends fc.Arbitrary<infer E> ? E : never): string {
    const { switches, ports } = this.#world
    if (kind === 'switch') {
      const name = `other${key}`
      if (n === null) switches.delete(name)
      else switches.set(name, { config: { n: `${n}` } })
      return name
    }
    const name = `port${key}`
    const on = containers[Number(n) % containers.length] ?? ''
    if (n === null) ports.delete(name)
    else ports.set(name, { on, addresses: [`dynamic 10.0.0.${n}`] })
    return name
  }
}

/** Resolves when nothing is left to be retried, either. */
async function settled({ client, kernel }: Process): Promise<void> {
  for (;;) {
    await client.connect()
    await kernel.quiet()
    if (kernel.recomputeAll().steps.length === 0) return
    await new Promise<void>((resolve) => {
      const subscription = client.onChange(() => {
        subscription[Symbol.dispose]()
        resolve()
      })
    })
  }
}

function wanted({ switches, ports }: Settings): readonly string[] {
  const lines = [...switches].map(([name, { config = {} }]) => {
    const on = [...ports].filter(([, port]) => port.on === name)
    const names = on.map(([port, { addresses = [] }]) => `${port}=${addresses.join()}`).toSorted()
    return `${name} ${config['n']} ${names.join(' ')}`
  })
  return lines.toSorted()
}

interface Selected {
  readonly _uuid: readonly ['uuid', string]
  readonly name: string
  readonly addresses: string | readonly ['set', readonly string[]]
  readonly ports: readonly ['uuid', string] | readonly ['set', readonly (readonly ['uuid', string])[]]
  readonly other_config: readonly ['map', readonly (readonly [string, string])[]]
}

/** What a member has, in the form of {@link wanted}. */
async function found(member: ClusterMember): Promise<readonly string[]> {
  const select = (table: string, columns: readonly string[]) => ({ op: 'select', table, where: [], columns })
  const [switches, ports] = (await member.server.transact([
    select('Logical_Switch', ['name', 'other_config', 'ports']),
    select('Logical_Switch_Port', ['_uuid', 'name', 'addresses']),
  ])) as readonly [{ readonly rows: readonly Selected[] }, { readonly rows: readonly Selected[] }]
  const portsById = new Map(
    ports.rows.map((port) => [port._uuid[1], `${port.name}=${String(port.addresses)}`]),
  )
  const lines = switches.rows.map(({ name, other_config: [, config], ports: [kind, value] }) => {
    const ids = kind === 'uuid' ? [value] : value.map(([, id]) => id)
    return `${name} ${config.find(([key]) => key === 'n')?.[1]} ${ids
      .map((id) => portsById.get(id))
      .toSorted()
      .join(' ')}`
  })
  return lines.toSorted()
}

/** Reads from the log which rows there are in the end, by their marks, and of which there were two at any time. */
function replay(log: readonly TransactionRecord[]): {
  readonly marks: readonly string[]
  readonly doubles: ReadonlySet<string>
} {
  const rows = new Map<string, string>()
  const doubles = new Set<string>()
  for (const { tables } of log) {
    const changes = ['Logical_Switch', 'Logical_Switch_Port'].flatMap((table) =>
      Object.entries(tables[table] ?? {}),
    )
    for (const [uuid, columns] of changes) {
      const { external_ids: ids }: Partial<Record<string, Selected['other_config']>> = columns ?? {}
      const mark = ids?.[1].find(([key]) => key === 'id')?.[1]
      if (columns === null) rows.delete(uuid)
      else if (mark !== undefined) rows.set(uuid, mark)
    }
    const seen = new Set<string>()
    for (const mark of rows.values()) {
      if (seen.has(mark)) doubles.add(mark)
      seen.add(mark)
    }
  }
  return { marks: [...rows.values()].toSorted(), doubles }
}

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const seed = Number(process.env['KUBE_OVN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

interface Outcome {
  /** Switches with their ports, as each member has them. */
  readonly rows: readonly (readonly string[])[]
  /** What the log makes of it. */
  readonly log: ReturnType<typeof replay>
  /** What another process still does. */
  readonly later: readonly TransactionRecord[]
}

/** Works through faults, one after the other. Answers what came of it and what was wanted. */
async function workThrough(
  sequence: readonly Fault[],
): Promise<{ readonly had: Outcome; readonly wanted: Outcome }> {
  const world = emptySettings()
  for (const name of containers) world.switches.set(name, { config: { n: 'fixed' } })
  await using process = await startProcess(cluster, world)
  using users = new Users(process, world, seed)
  await users.changes(10)
  for (const { strike, mend, isStandstill } of sequence) {
    const leader = await cluster.leader()
    await strike(leader)
    if (isStandstill !== true) await users.changes(10)
    await mend(leader)
    await users.changes(10)
  }
  await users.stop()
  // The last of all transactions, which tells when a member has caught up.
  world.switches.set('last', { config: { n: 'last' } })
  await process.change('switch', 'last')
  await settled(process)
  for (const member of cluster.members) await member.ask('wait-until', 'Logical_Switch', 'last')
  const log = await cluster.transactionLog()
  const rows = await Promise.all(cluster.members.map(found))
  await using _successor = await startProcess(cluster, world)
  const later = (await cluster.transactionLog()).slice(log.length)
  const marks = [...[...world.switches.keys()].map((name) => `ls/${name}`), ...[...world.ports.keys()].map((name) => `lsp/${name}`)].toSorted() // prettier-ignore
  return {
    had: { rows, log: replay(log), later },
    wanted: { rows: rows.map(() => wanted(world)), log: { marks, doubles: new Set() }, later: [] },
  }
}

it.each(faults)(`makes of the database what is wanted when $name (KUBE_OVN_SEED=${seed})`, async (fault) => {
  const { had, wanted: want } = await workThrough([fault])
  expect(had).toEqual(want)
})

it(`does so in any sequence (KUBE_OVN_SEED=${seed})`, { timeout: 600_000 }, async ({ skip }) => {
  skip(!isDeep, 'it takes minutes: KUBE_OVN_DEEP=1 runs it')
  const sequence = fc.sample(fc.constantFrom(...faults), { seed, numRuns: 30 })
  const { had, wanted: want } = await workThrough(sequence)
  expect(had).toEqual(want)
})
