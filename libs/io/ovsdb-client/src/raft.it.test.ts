import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { type ClusterMember, NorthboundCluster, startProxy } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DuplicateUuidError, NotOwnerError, TransactionOutcomeUnknownError } from './errors.ts'
import { clearLedger, discrepancies, Ledger } from './ledger-fixture.ts'
import { nextPhase, openRaftClient } from './client-fixture.ts'
import type { AnyRowChange } from './types.ts'

let cluster: NorthboundCluster

beforeAll(async () => {
  cluster = await NorthboundCluster.start()
})
afterEach(() => cluster.heal())
afterAll(() => cluster[Symbol.asyncDispose]())

function names(changes: readonly AnyRowChange<OvnNorthbound>[]): readonly unknown[] {
  return changes.flatMap(({ table, old, new: row }) =>
    table === 'Logical_Switch' ? [[old?.name, row?.name]] : [],
  )
}

describe('a client', () => {
  beforeAll(() => cluster.setElectionTimer(8_000))
  afterAll(() => cluster.setElectionTimer(1_000))

  it('finds the leader, whatever comes first in the list', async () => {
    const leader = await cluster.leader()
    const endpoints = [...cluster.except(leader), leader].map(({ address }) => address)
    await using client = openRaftClient({ endpoints, leaderOnly: true })
    await client.connect()
    expect(client.state).toMatchObject({ endpoint: leader.address })
  })

  it('is content with a follower if that is enough, and sees its own writes there', async () => {
    const [follower] = await cluster.followers()
    await using client = openRaftClient({ endpoints: [String(follower?.address)] })
    await client.connect()
    for (let n = 0; n < 20; n++) {
      await client.transact([client.operations.insert('Logical_Switch', { name: `by-follower${n}` })])
      expect(client.cache.find('Logical_Switch', 'name', `by-follower${n}`)).toHaveLength(1)
    }
  })

  it('resumes after a cut without a fresh dump', async () => {
    await using proxy = await startProxy((await cluster.leader()).address)
    await using client = openRaftClient({ endpoints: [proxy.address], leaderOnly: true })
    const seen: unknown[] = []
    await client.connect()
    client.onChange((changes) => seen.push(names(changes)))
    await client.transact([client.operations.insert('Logical_Switch', { name: 'before' })])
    const reconnected = nextPhase(client, 'connected')
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

describe('a transaction whose answer is lost', () => {
  beforeAll(() => cluster.setElectionTimer(8_000))
  afterAll(() => cluster.setElectionTimer(1_000))

  it.each([
    { name: 'is cut off', lost: 'transact', fate: 'hang up' },
    { name: 'arrives in part', lost: 'transact', fate: 'truncate' },
    { name: 'is lost with the update before it', lost: 'update3', fate: 'hang up' },
  ] as const)('is looked for, not repeated, when that $name', async ({ lost, fate }) => {
    await clearLedger(cluster)
    await using proxy = await startProxy((await cluster.leader()).address)
    let messages = 0
    proxy.meddle(({ method, text }) => {
      // Of the ledger's transactions, not of what the client itself asks when it connects.
      const isConcerned = method === lost && /"insert"|"uuid"/.test(text)
      return isConcerned && ++messages % 7 === 0 ? fate : 'pass'
    })
    const backoff = { initialMs: 10, maxMs: 10, factor: 1, jitter: 0 }
    await using client = openRaftClient({ endpoints: [proxy.address], leaderOnly: true, backoff })
    await client.connect()
    const ledger = new Ledger(client, `${lost}-${fate.length}-`)
    await ledger.more(60)
    await ledger[Symbol.asyncDispose]()
    expect(ledger.failures).toBeGreaterThan(5)
    expect(await discrepancies(cluster, [ledger])).toEqual([])
  })
})

describe('what is committed late', () => {
  beforeAll(() => cluster.setElectionTimer(8_000))
  afterAll(() => cluster.setElectionTimer(1_000))

  it('is in the cache of a client of the leader when connect resolves', async () => {
    const leader = await cluster.leader()
    const followers = cluster.except(leader)
    // The leader has an entry of which it does not know yet whether it will be committed, as after an election.
    await using writer = openRaftClient({
      endpoints: cluster.addresses,
      leaderOnly: true,
      inactivityProbeMs: 0,
    })
    await writer.connect()
    await using reader = openRaftClient({ endpoints: cluster.addresses, leaderOnly: true })
    await Promise.all(followers.map((follower) => follower.ignore([leader])))
    const { insert } = writer.operations
    const committed = writer.transact([insert('Logical_Switch', { name: 'late' })])
    const connected = reader.connect()
    await cluster.heal()
    await connected
    expect(reader.cache.find('Logical_Switch', 'name', 'late')).toHaveLength(1)
    await committed
  })

  it('is inserted once if the row brings its id, even by followers that lag', async () => {
    await clearLedger(cluster)
    const leader = await cluster.leader()
    const [follower, lagging] = cluster.except(leader) as [ClusterMember, ClusterMember]
    await using proxy = await startProxy(follower.address)
    proxy.meddle(({ text }) => (text.includes('once') ? 'hang up' : 'pass'))
    await using client = openRaftClient({ endpoints: [proxy.address, lagging.address] })
    await client.connect()
    await lagging.ignore([leader])
    const uuid = crypto.randomUUID()
    const operations = [client.operations.insert('Logical_Switch', { name: 'once' }, { uuid })]
    await expect(client.transact(operations)).rejects.toBeInstanceOf(TransactionOutcomeUnknownError)
    await client.connect()
    expect(client.state).toMatchObject({ endpoint: lagging.address })
    expect(client.cache.get('Logical_Switch', uuid)).toBeUndefined()
    const again = client.transact(operations)
    const refused = expect(again).rejects.toBeInstanceOf(DuplicateUuidError)
    await cluster.heal()
    await refused
    expect(client.cache.find('Logical_Switch', 'name', 'once')).toHaveLength(1)
  })
})

it('compares a fresh dump with the cache when the cluster has forgotten what happened', async () => {
  await clearLedger(cluster)
  const [member] = await cluster.followers()
  await using proxy = await startProxy(String(member?.address))
  await using client = openRaftClient({ endpoints: [proxy.address] })
  await cluster.nbctl('ls-add', 'kept', '--', 'ls-add', 'lost', '--', 'ls-add', 'changed')
  await client.connect()
  const [kept] = client.cache.find('Logical_Switch', 'name', 'kept')
  const seen: (readonly unknown[])[] = []
  client.onChange((changes) => seen.push(names(changes)))
  const reconnected = nextPhase(client, 'connected')
  proxy.cut()
  const change = ['set', 'Logical_Switch', 'changed', 'name=other']
  await cluster.nbctl('ls-del', 'lost', '--', 'ls-add', 'new', '--', ...change)
  await Promise.all(
    cluster.members.map(async ({ server }) => {
      await server.control('ovsdb-server/compact OVN_Northbound')
      await server.kill()
    }),
  )
  await Promise.all(cluster.members.map(({ server }) => server.start()))
  proxy.mend()
  await reconnected
  expect(proxy.received).toMatch(/"result":\[false,/)
  expect(seen.map((changes) => changes.toSorted())).toEqual([
    [
      [undefined, 'new'],
      ['changed', 'other'],
      ['lost', undefined],
    ].toSorted(),
  ])
  expect(client.cache.find('Logical_Switch', 'name', 'kept')[0]).toBe(kept)
})

it('leaves a leader that is frozen, for its silence', async () => {
  const leader = await cluster.leader()
  await using client = openRaftClient({ endpoints: cluster.addresses, leaderOnly: true })
  await client.connect()
  const left = nextPhase(client, 'waiting')
  await leader.server.freeze()
  expect(await left).toMatchObject({ cause: { details: { reason: 'no answer to an inactivity probe' } } })
  await client.connect()
  expect(client.state).not.toMatchObject({ endpoint: leader.address })
  await leader.server.thaw()
})

it('lets one of two write who both want to, whoever leads the cluster', async () => {
  await clearLedger(cluster)
  const stop = new AbortController()
  const refused = { one: 0, two: 0 }
  let connections = 0
  let written = Promise.withResolvers<void>()

  /** Tries to write whether it has the lock or not. */
  async function write(author: keyof typeof refused): Promise<void> {
    await using client = openRaftClient({ endpoints: cluster.addresses, leaderOnly: true })
    await using lock = client.lock('controller')
    using _counting = client.onState(({ phase }) => {
      if (phase === 'connected') connections++
    })
    const { assertLock, insert, comment } = client.operations
    for (let n = 0; !stop.signal.aborted; n++) {
      await client.connect()
      const entry = insert('Logical_Switch', { name: `${author}${n}` })
      using subscriptions = new DisposableStack()
      const heard = new Promise<void>((resolve) => {
        subscriptions.use(client.onChange(() => resolve()))
        subscriptions.use(client.onState(() => resolve()))
        subscriptions.use(lock.onChange(() => resolve()))
        stop.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      try {
        await client.transact([assertLock('controller'), entry, comment(`by ${author}`)])
        written.resolve()
      } catch (error) {
        if (error instanceof NotOwnerError) refused[author]++
        else if (!(error instanceof TransactionOutcomeUnknownError)) throw error
        await heard
      }
    }
  }

  const writers = Promise.all([write('one'), write('two')])
  const faults = [
    async () => (await cluster.leader()).arm('transfer-leadership'),
    async () => cluster.partition([await cluster.leader()]),
    () => cluster.heal(),
  ]
  for (const strike of faults) {
    await Promise.race([written.promise, writers])
    await strike()
    written = Promise.withResolvers()
  }
  await Promise.race([written.promise, writers])
  stop.abort()
  await writers
  const authors = (await cluster.transactionLog()).flatMap(
    ({ comment }) => comment?.match(/^by (.*)$/)?.[1] ?? [],
  )
  const reigns = authors.filter((author, n) => author !== authors[n - 1])
  // Who loses its connection may lose the lock, as at an election, whoever called for that; but they never take turns.
  expect(reigns.length).toBeLessThan(connections)
  expect(refused.one + refused.two).toBeGreaterThan(0)
})
