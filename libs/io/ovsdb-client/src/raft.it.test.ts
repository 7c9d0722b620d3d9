import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { type ClusterMember, NorthboundCluster, startProxy } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ClientState, OvsdbClient, type OvsdbClientOptions } from './client.ts'
import type { AnyRowChange } from './types.ts'
import { clearLedger, expectOnce, Ledger } from './ledger-fixture.ts'

let cluster: NorthboundCluster

beforeAll(async () => {
  cluster = await NorthboundCluster.start()
})
afterEach(() => cluster.heal())
afterAll(() => cluster[Symbol.asyncDispose]())

function openClient(options: Partial<OvsdbClientOptions<OvnNorthbound>>): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: cluster.addresses,
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch: { columns: ['name'], indexes: ['name'] }, NB_Global: {} },
    inactivityProbeMs: 500,
    backoff: { initialMs: 20, maxMs: 500, factor: 2, jitter: 0.5 },
    ...options,
  })
}

/** Resolves when the client gets to a phase; with `elsewhere`, at another endpoint than that. */
function phase(client: OvsdbClient<OvnNorthbound>, wanted: ClientState['phase']): Promise<ClientState> {
  return new Promise((resolve) => {
    const subscription = client.onState((state) => {
      if (state.phase !== wanted) return
      subscription[Symbol.dispose]()
      resolve(state)
    })
  })
}

function names(changes: readonly AnyRowChange<OvnNorthbound>[]): readonly unknown[] {
  return changes.flatMap(({ table, old, new: row }) =>
    table === 'Logical_Switch' ? [[old?.name, row?.name]] : [],
  )
}

describe('a client', () => {
  it('finds the leader, whatever comes first in the list', async () => {
    const leader = await cluster.leader()
    const endpoints = [...cluster.except(leader), leader].map(({ address }) => address)
    await using client = openClient({ endpoints, leaderOnly: true })
    await client.connect()
    expect(client.state).toMatchObject({ endpoint: leader.address })
  })

  it('is content with a follower if that is enough, and sees its own writes there', async () => {
    const [follower] = await cluster.followers()
    await using client = openClient({ endpoints: [String(follower?.address)] })
    await client.connect()
    for (let n = 0; n < 20; n++) {
      await client.transact([client.operations.insert('Logical_Switch', { name: `by-follower${n}` })])
      expect(client.cache.find('Logical_Switch', 'name', `by-follower${n}`)).toHaveLength(1)
    }
  })

  it('resumes after a cut without a fresh dump', async () => {
    await using proxy = await startProxy((await cluster.leader()).address)
    await using client = openClient({ endpoints: [proxy.address], leaderOnly: true })
    const seen: unknown[] = []
    await client.connect()
    client.onChange((changes) => seen.push(names(changes)))
    await client.transact([client.operations.insert('Logical_Switch', { name: 'before' })])
    const reconnected = phase(client, 'connected')
    proxy.cut()
    await cluster.nbctl('ls-add', 'meanwhile')
    proxy.mend()
    await reconnected
    expect(seen).toEqual([[[undefined, 'before']], [[undefined, 'meanwhile']]])
    // The answer to monitor_cond_since begins with whether the server still knew our last transaction.
    expect(proxy.received).toMatch(
      /"result":\[true,"[-0-9a-f]{36}",\{"Logical_Switch":\{"[-0-9a-f]{36}":\{"insert"/,
    )
  })
})

interface Scene {
  readonly leader: ClusterMember
  readonly follower: ClusterMember
  readonly bystander: ClusterMember
}

const kill = async ({ server }: ClusterMember): Promise<void> => server.kill()
const start = async ({ server }: ClusterMember): Promise<void> => server.start()

/** What goes wrong while two clients write, and what ends it. */
const faults: readonly {
  readonly name: string
  readonly strike: (scene: Scene) => Promise<unknown>
  readonly mend?: (scene: Scene) => Promise<unknown>
  /** Nobody can write before it is mended. */
  readonly isStandstill?: true
}[] = [
  {
    name: 'the leader is killed',
    strike: ({ leader }) => kill(leader),
    mend: ({ leader }) => start(leader),
  },
  {
    name: 'the leader dies with an entry that the others have',
    strike: ({ leader }) => leader.arm('crash-after-sending-append-request'),
    mend: ({ leader }) => start(leader),
  },
  {
    name: 'the leader dies with an entry that only it has',
    strike: ({ leader }) => leader.arm('crash-before-sending-append-request'),
    mend: ({ leader }) => start(leader),
  },
  {
    name: 'the leader dies before it answers a follower',
    strike: ({ leader }) => leader.arm('crash-before-sending-execute-command-reply'),
    mend: ({ leader }) => start(leader),
  },
  {
    name: 'the leader hands over',
    strike: ({ leader }) => leader.arm('transfer-leadership'),
  },
  {
    name: 'the leader hands over with an entry under way',
    strike: ({ leader }) => leader.arm('transfer-leadership-after-sending-append-request'),
  },
  {
    name: 'the leader is cut off',
    strike: ({ leader }) => cluster.partition([leader]),
    mend: () => cluster.heal(),
  },
  {
    name: 'the leader hears no answers',
    strike: ({ leader, follower, bystander }) => leader.ignore([follower, bystander]),
    mend: () => cluster.heal(),
  },
  {
    name: 'the leader freezes',
    strike: ({ leader }) => leader.server.freeze(),
    mend: ({ leader }) => leader.server.thaw(),
  },
  {
    name: 'the follower is killed',
    strike: ({ follower }) => kill(follower),
    mend: ({ follower }) => start(follower),
  },
  {
    name: 'the follower is cut off',
    strike: ({ follower }) => cluster.partition([follower]),
    mend: () => cluster.heal(),
  },
  {
    name: 'the follower freezes',
    strike: ({ follower }) => follower.server.freeze(),
    mend: ({ follower }) => follower.server.thaw(),
  },
  {
    name: 'all take a snapshot',
    strike: () => Promise.all(cluster.members.map((member) => member.compact())),
  },
  {
    name: 'all are killed',
    isStandstill: true,
    strike: () => Promise.all(cluster.members.map(kill)),
    mend: () => Promise.all(cluster.members.map(start)),
  },
]

describe('nothing is lost and nothing done twice when', () => {
  it.each(faults)('$name', async ({ strike, mend, isStandstill }) => {
    await clearLedger(cluster)
    const leader = await cluster.leader()
    const [follower, bystander] = cluster.except(leader) as [ClusterMember, ClusterMember]
    const scene = { leader, follower, bystander }
    await using ofLeader = openClient({ leaderOnly: true })
    const endpoints = [follower.address, ...cluster.except(follower).map(({ address }) => address)]
    await using ofFollower = openClient({ endpoints })
    await Promise.all([ofLeader.connect(), ofFollower.connect()])
    const ledgers = [new Ledger(ofLeader, 'a'), new Ledger(ofFollower, 'b')]
    const more = (count: number) => Promise.all(ledgers.map((ledger) => ledger.more(count)))
    await more(20)
    await strike(scene)
    if (isStandstill !== true) await more(20)
    await mend?.(scene)
    await more(20)
    for (const ledger of ledgers) await ledger[Symbol.asyncDispose]()
    await expectOnce(cluster, ledgers)
  })
})
