import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { NorthboundCluster } from './northbound-cluster.ts'

const networks = [
  { name: 'a cluster', observed: false },
  { name: 'a cluster whose network is led through the test', observed: true },
]

describe.each(networks)('$name', ({ observed }) => {
  let cluster: NorthboundCluster

  beforeAll(async () => {
    cluster = await NorthboundCluster.start({ observed })
  })
  afterEach(() => cluster.heal())
  afterAll(() => cluster[Symbol.asyncDispose]())

  it('has the same log as its leader, with and without a snapshot', async () => {
    await cluster.nbctl('ls-add', 'sw0')
    await cluster.nbctl('ls-add', 'sw1')
    const comments = (await cluster.transactionLog()).map(({ comment }) => comment)
    expect(comments.slice(-2)).toEqual([
      expect.stringContaining('ls-add sw0'),
      expect.stringContaining('ls-add sw1'),
    ])
    const [follower] = await cluster.followers()
    await follower?.compact()
    const [snapshot, ...later] = (await follower?.server.transactionLog()) ?? []
    expect(Object.values(snapshot?.tables['Logical_Switch'] ?? {})).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'sw0' }),
        expect.objectContaining({ name: 'sw1' }),
      ]),
    )
    expect(later).toEqual([])
  })

  it('elects another leader when the old one is cut off, and agrees again when it is not', async () => {
    const old = await cluster.leader()
    await cluster.partition([old])
    const heir = await cluster.leader(cluster.except(old))
    await heir.nbctl('ls-add', 'meanwhile')
    await cluster.heal()
    await old.ask('wait-until', 'Logical_Switch', 'meanwhile')
    expect(await cluster.leader()).toBe(heir)
  })

  it('leaves nothing of the question who leads', async () => {
    await cluster.leader()
    for (const { server } of cluster.members) {
      // A trigger is a transaction that waits.
      await expect.poll(() => server.control('memory/show')).not.toContain('triggers:')
    }
  })

  // Only there is somebody between the members.
  if (!observed) return

  it('shows what members tell each other', async () => {
    const leader = await cluster.leader()
    cluster.forgetMessages()
    await cluster.nbctl('ls-add', 'shown')
    const appended = cluster.messages.filter(({ method }) => method === 'append_request')
    expect(new Set(appended.map(({ from }) => from))).toEqual(new Set([leader.ip]))
    expect(new Set(appended.map(({ to }) => to))).toEqual(new Set(cluster.except(leader).map(({ ip }) => ip)))
    const replies = cluster.messages.filter(({ method }) => method === 'append_reply')
    expect(replies.map(({ to }) => to)).toContain(leader.ip)
  })

  it('commits later when its messages arrive later, and not when one member alone is slow', async () => {
    await cluster.setElectionTimer(16_000)
    async function commitMs(name: string): Promise<number> {
      const startedMs = performance.now()
      await cluster.nbctl('ls-add', name)
      return performance.now() - startedMs
    }
    // There and back.
    cluster.slow(300)
    expect(await commitMs('slow')).toBeGreaterThan(600)
    cluster.slow(8_000, (await cluster.followers()).slice(0, 1))
    expect(await commitMs('majority')).toBeLessThan(16_000)
    cluster.slow(0)
    const leader = await cluster.leader()
    cluster.slow(300, [leader])
    expect(await commitMs('leader')).toBeGreaterThan(600)
    cluster.slow(0)
  })
})
