import { NorthboundCluster, startNorthbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ClientState } from './client-state.ts'
import { nextPhase, openRaftClient } from './client-fixture.ts'

let cluster: NorthboundCluster
beforeAll(async () => {
  cluster = await NorthboundCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())

const replacedAfterMs = 1_000

function open(endpoints: readonly string[] = cluster.addresses) {
  return openRaftClient({ endpoints, leaderOnly: true, replacedAfterMs })
}

function switches({ cache }: ReturnType<typeof open>): readonly string[] {
  return [...cache.scan('Logical_Switch')].map(({ name }) => name).sort()
}

/** Resolves when the client has given up a server for this reason. */
function refusal(client: ReturnType<typeof open>, reason: RegExp): Promise<ClientState> {
  return new Promise((resolve) => {
    const subscription = client.onState((state) => {
      const { cause = undefined } = 'cause' in state ? state : {}
      if (!reason.test(JSON.stringify(cause?.cause ?? ''))) return
      subscription[Symbol.dispose]()
      resolve(state)
    })
  })
}

it('goes on with a cluster that was put back to an older state, and says so', async () => {
  await cluster.nbctl('ls-add', 'kept')
  await cluster.save()
  await using client = open()
  await client.connect()
  for (let n = 0; n < 5; n++)
    await client.transact([client.operations.insert('Logical_Switch', { name: `lost${n}` })])
  const again = nextPhase(client, 'connected')
  await cluster.restore()
  expect(await again).toMatchObject({ replaced: 'its data is older than what was seen before' })
  expect(switches(client)).toEqual(['kept'])
  await client.transact([client.operations.insert('Logical_Switch', { name: 'new' })])
  expect(switches(client)).toEqual(['kept', 'new'])
})

it('goes on with a cluster that was made anew, and says so once', async () => {
  await using client = open()
  await client.connect()
  const again = nextPhase(client, 'connected')
  await cluster.recreate()
  expect(await again).toMatchObject({ replaced: 'it belongs to another cluster' })
  expect(switches(client)).toEqual([])
  const back = nextPhase(client, 'connected')
  await (await cluster.leader()).server.kill()
  expect(await back).toMatchObject({ replaced: undefined })
})

it('does not go on with a server that was made anew by itself', async () => {
  await Promise.all(cluster.members.map(({ server }) => server.kill().catch(() => undefined)))
  await Promise.all(cluster.members.map(({ server }) => server.start()))
  await cluster.nbctl('ls-add', 'ours')
  await using client = open()
  await client.connect()
  const [strayed] = await cluster.followers()
  const others = cluster.members.filter((member) => member !== strayed)
  // It founds a cluster of its own, while the rest has no majority.
  const [away] = others
  await Promise.all([strayed?.server.kill(), away?.server.kill()])
  const refused = refusal(client, /another cluster/)
  await strayed?.recreate()
  await refused
  // However long that goes on.
  const sinceMs = performance.now()
  while (performance.now() - sinceMs < 2 * replacedAfterMs) await refusal(client, /another cluster/)
  expect(switches(client)).toEqual(['ours'])
  const again = nextPhase(client, 'connected')
  await away?.server.start()
  expect(await again).toMatchObject({ replaced: undefined })
  await client.transact([client.operations.insert('Logical_Switch', { name: 'more' })])
})

it('goes on with the only server when its database was made anew', async () => {
  await using northbound = await startNorthbound()
  await northbound.nbctl('ls-add', 'old')
  await using client = openRaftClient({ endpoints: [northbound.address], leaderOnly: true })
  await client.connect()
  const again = nextPhase(client, 'connected')
  await northbound.server.kill()
  await northbound.server.recreate()
  await again
  expect(switches(client)).toEqual([])
})
