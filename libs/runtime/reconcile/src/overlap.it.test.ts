import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import type { Operation, OvsdbClient } from 'ovsdb-client'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { databaseOf, emptySettings, startProcess } from './kernel-fixture.ts'

let northbound: Northbound

beforeAll(async () => {
  northbound = await startNorthbound()
})

afterAll(() => northbound[Symbol.asyncDispose]())

beforeEach(() => northbound.reset())

const batchSize = 10

/** A database that keeps the answer to the first transaction to itself until a second one is sent, once it is told to. */
class Overlap {
  /** How many others were under way when a transaction was sent. */
  readonly beside: number[] = []
  #underWay = 0
  #second: PromiseWithResolvers<void> | undefined

  expectSecond(): void {
    this.#second = Promise.withResolvers()
    this.beside.length = 0
  }

  readonly database = (client: OvsdbClient<OvnNorthbound>): Database =>
    databaseOf(client, (operations) => this.#transact(client, operations))

  async #transact(client: OvsdbClient<OvnNorthbound>, operations: readonly Operation[]) {
    this.beside.push(this.#underWay++)
    const isFirst = this.beside.length === 1
    if (!isFirst) this.#second?.resolve()
    try {
      return await client.transact(operations)
    } finally {
      if (isFirst) await this.#second?.promise
      this.#underWay--
    }
  }
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `p${n}`)
}

it('sends new rows while the server is at work on others, as long as whole batches wait', async () => {
  const world = emptySettings()
  world.switches.set('blue', {})
  const overlap = new Overlap()
  await using process = await startProcess(northbound, world, { batchSize }, overlap.database)
  for (const name of names(95)) world.ports.set(name, { on: 'blue' })
  overlap.expectSecond()
  await process.change('port', ...names(95))
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(95)
  expect(overlap.beside.slice(0, 2)).toEqual([0, 1])
  expect(overlap.beside).toHaveLength(10)
  // The last batch is not whole: more may come for it.
  expect(overlap.beside.at(-1)).toBe(0)
  expect(process.kernel.recomputeAll().steps).toEqual([])
})

it('waits when rows are changed or removed, or depend on others that are under way', async () => {
  const world = emptySettings()
  const overlap = new Overlap()
  await using process = await startProcess(northbound, world, { batchSize }, overlap.database)
  for (const name of names(40)) world.ports.set(name, { on: 'blue' })
  world.switches.set('blue', {})
  // The switch is in the first batch, and the ports of the others wait until it is there.
  await process.change('switch', 'blue')
  await process.change('port', ...names(40))
  overlap.beside.length = 0
  for (const name of names(40)) world.ports.set(name, { on: 'blue', tag: 7 })
  await process.change('port', ...names(40))
  expect(overlap.beside).toEqual([0, 0, 0, 0])
  overlap.beside.length = 0
  world.ports.clear()
  await process.change('port', ...names(40))
  expect(overlap.beside).toEqual([0, 0, 0, 0])
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(0)
})

it('brings the rest to its end when one of two transactions is refused', async () => {
  const world = emptySettings()
  world.switches.set('blue', {})
  const overlap = new Overlap()
  await using process = await startProcess(northbound, world, { batchSize }, overlap.database)
  for (const name of names(30)) world.ports.set(name, { on: 'blue' })
  overlap.expectSecond()
  // The schema allows 1 to 4095 (ovn-nb(5)).
  world.ports.set('p3', { on: 'blue', tag: 5000 })
  world.ports.set('p17', { on: 'blue', tag: 5000 })
  await process.change('port', ...names(30))
  expect(overlap.beside[1]).toBe(1)
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(28)
  world.ports.set('p3', { on: 'blue', tag: 3 })
  world.ports.set('p17', { on: 'blue', tag: 17 })
  await process.change('port', 'p3', 'p17')
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(30)
})
