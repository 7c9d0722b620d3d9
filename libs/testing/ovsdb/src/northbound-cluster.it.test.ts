import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { NorthboundCluster } from './northbound-cluster.ts'

let cluster: NorthboundCluster

beforeAll(async () => {
  cluster = await NorthboundCluster.start()
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
  expect(Object.values(snapshot?.tables['Logical_Switch'] ?? {})).toHaveLength(2)
  expect(later).toEqual([])
})

it('elects another leader when the old one is cut off, and agrees again when it is not', async () => {
  const old = await cluster.leader()
  await cluster.partition([old])
  const heir = await cluster.leader(cluster.except(old))
  await heir.nbctl('ls-add', 'meanwhile')
  await cluster.heal()
  await old.connected()
  await old.nbctl('wait-until', 'Logical_Switch', 'meanwhile')
  expect(await cluster.leader()).toBe(heir)
})
