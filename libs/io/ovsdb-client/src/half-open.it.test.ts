import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nextPhase, openClient } from './client-fixture.ts'
import { TransactionOutcomeUnknownError } from './errors.ts'

/** Nothing but doubt leads anywhere. */
const patient = { inactivityProbeMs: 0, transactTimeoutMs: 0 }

let northbound: Northbound

beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())

it('is given up when its server answers on another connection', async () => {
  await using proxy = await startProxy(northbound.address)
  await using client = openClient(proxy, { ...patient, doubtAfterMs: 100 })
  await client.connect()
  proxy.swallow()
  const commit = () => client.transact([client.operations.comment('half open')])
  await expect(commit()).rejects.toBeInstanceOf(TransactionOutcomeUnknownError)
  expect(client.state).toMatchObject({
    cause: { details: { reason: 'silent, while the server answers on another connection' } },
  })
  await client.connect()
  await commit()
})

it('is kept while the server is silent everywhere', async () => {
  await using client = openClient(northbound, { ...patient, doubtAfterMs: 20 })
  await using impatient = openClient(northbound, { inactivityProbeMs: 500 })
  await Promise.all([client.connect(), impatient.connect()])
  const states: string[] = []
  client.onState(({ phase }) => states.push(phase))
  await northbound.server.freeze()
  const answer = client.transact([client.operations.comment('late')])
  await nextPhase(impatient, 'waiting')
  await northbound.server.thaw()
  await answer
  expect(states).toEqual([])
})

it('is kept while the server is at a transaction that waits', async () => {
  await using proxy = await startProxy(northbound.address)
  await using client = openClient(proxy, { ...patient, doubtAfterMs: 50 })
  await client.connect()
  const { wait } = client.operations
  const answer = client.transact([wait('Logical_Switch', [['name', '==', 'late']], '!=', [], 60_000)])
  await expect.poll(() => proxy.received.split('"result":[]').length).toBeGreaterThan(3)
  await northbound.nbctl('ls-add', 'late')
  await answer
  expect(client.state.phase).toBe('connected')
})
