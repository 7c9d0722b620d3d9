import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import {
  DuplicateUuidError,
  NotConnectedError,
  TransactionOutcomeUnknownError,
  type Operation,
} from 'ovsdb-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { databaseOf, emptySettings, startProcess } from './kernel-fixture.ts'

let northbound: Northbound
beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())
beforeEach(() => northbound.reset())

type Transact = Database['transact']

/** A kernel whose transactions pass `meddle`, which is given the way to the server. */
async function startMeddled(
  meddle: (operations: readonly Operation[], send: Transact) => ReturnType<Transact>,
) {
  const world = emptySettings()
  const process = await startProcess(northbound, world, {}, (client) =>
    databaseOf(client, (operations) => meddle(operations, (sent) => client.transact(sent))),
  )
  const switchesOf = (name: string) =>
    [...process.client.cache.scan('Logical_Switch')].filter((row) => row.name === name)
  const idsOf = (name: string) => switchesOf(name).map(({ _uuid }) => _uuid)
  return { process, world, idsOf, switchesOf, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() }
}

function lost(): TransactionOutcomeUnknownError {
  return new TransactionOutcomeUnknownError('OVN_Northbound', new Error('reset by peer'))
}

describe('a transaction that the server carries out long after it was given up', () => {
  it('inserts nothing twice when it comes after the one that was sent in its place', async () => {
    let late: readonly Operation[] | undefined
    await using meddled = await startMeddled((operations, send) => {
      if (late !== undefined) return send(operations)
      late = operations
      return Promise.reject(lost())
    })
    const { process, world, idsOf, switchesOf } = meddled
    world.switches.set('blue', {})
    world.ports.set('web', { on: 'blue' })
    world.switches.set('red', {})
    await process.change('switch', 'blue', 'red')
    await process.change('port', 'web')
    await expect.poll(() => [idsOf('blue').length, idsOf('red').length]).toEqual([1, 1])
    await expect.poll(() => switchesOf('blue').map(({ ports }) => ports.length)).toEqual([1])
    await expect(process.client.transact(late ?? [])).rejects.toBeInstanceOf(DuplicateUuidError)
    expect(idsOf('blue')).toHaveLength(1)
  })

  it('inserts nothing twice although one between them was never sent', async () => {
    const sent: (readonly Operation[])[] = []
    await using meddled = await startMeddled((operations, send) => {
      sent.push(operations)
      if (sent.length === 1) return Promise.reject(lost())
      if (sent.length === 2) return Promise.reject(new NotConnectedError('OVN_Northbound', undefined))
      return send(operations)
    })
    const { process, world, idsOf } = meddled
    world.switches.set('blue', {})
    await process.change('switch', 'blue')
    await expect.poll(() => idsOf('blue')).toHaveLength(1)
    await expect(process.client.transact(sent[0] ?? [])).rejects.toBeInstanceOf(DuplicateUuidError)
  })

  it('inserts nothing twice when it comes just before that', async () => {
    let late: readonly Operation[] | undefined
    let refused = 0
    await using meddled = await startMeddled(async (operations, send) => {
      if (late === undefined) {
        late = operations
        throw lost()
      }
      if (refused === 0) await send(late)
      return send(operations).catch((error: unknown) => {
        if (error instanceof DuplicateUuidError) refused++
        throw error
      })
    })
    const { process, world, switchesOf } = meddled
    world.switches.set('blue', { config: { n: '1' } })
    await process.change('switch', 'blue')
    await expect.poll(() => refused).toBe(1)
    await process.kernel.quiet()
    expect(switchesOf('blue')).toMatchObject([{ other_config: { n: '1' } }])
    world.switches.set('blue', { config: { n: '2' } })
    await process.change('switch', 'blue')
    expect(switchesOf('blue')).toMatchObject([{ other_config: { n: '2' } }])
  })
})

it('gives a row that was in doubt, was there and went another id when it comes again', async () => {
  let isFirst = true
  await using meddled = await startMeddled(async (operations, send) => {
    const results = await send(operations)
    if (!isFirst) return results
    isFirst = false
    throw lost()
  })
  const { process, world, idsOf } = meddled
  world.switches.set('blue', {})
  await process.change('switch', 'blue')
  await expect.poll(() => idsOf('blue')).toHaveLength(1)
  const [before] = idsOf('blue')
  world.switches.delete('blue')
  await process.change('switch', 'blue')
  expect(idsOf('blue')).toEqual([])
  world.switches.set('blue', {})
  await process.change('switch', 'blue')
  expect(idsOf('blue')).toHaveLength(1)
  expect(idsOf('blue')).not.toEqual([before])
})
