import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { emptySettings, startProcess, type Settings } from './kernel-fixture.ts'

let northbound: Northbound
let world: Settings
beforeAll(async () => {
  northbound = await startNorthbound()
})
beforeEach(async () => {
  await northbound.reset()
  world = emptySettings()
  world.switches.set('blue', {})
})
afterAll(() => northbound[Symbol.asyncDispose]())

/** Ports of which a state of the database was seen in which they were not in the group. */
function watchUnguarded({ client }: Awaited<ReturnType<typeof startProcess>>): ReadonlySet<string> {
  const unguarded = new Set<string>()
  client.onChange((changes) => {
    const guarded = new Set([...client.cache.scan('Port_Group')].flatMap(({ ports }) => ports))
    for (const { table, uuid } of changes)
      if (
        table === 'Logical_Switch_Port' &&
        client.cache.get(table, uuid) !== undefined &&
        !guarded.has(uuid)
      )
        unguarded.add(uuid)
  })
  return unguarded
}

function name(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `port-${n}`)
}

it('makes 2,000 ports under one group in at most 40 transactions, and none without it', async () => {
  world.groups.add('g')
  await using process = await startProcess(northbound, world)
  const unguarded = watchUnguarded(process)
  const before = await northbound.transactions()
  const names = name(2000)
  for (const port of names) world.ports.set(port, { on: 'blue', groups: ['g'] })
  await process.change('port', ...names)
  expect((await northbound.transactions()) - before).toBeLessThanOrEqual(40)
  const [group] = process.client.cache.scan('Port_Group')
  expect(group?.ports).toHaveLength(2000)
  expect([...unguarded]).toEqual([])
})

it('makes no port before its group, and none without it when its transaction is refused', async () => {
  await using process = await startProcess(northbound, world)
  const unguarded = watchUnguarded(process)
  const names = name(100)
  for (const port of names) world.ports.set(port, { on: 'blue', groups: ['g'] })
  // Out of the range of tags.
  world.ports.set('port-7', { on: 'blue', groups: ['g'], tag: 5000 })
  await process.change('port', ...names)
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(0)
  world.groups.add('g')
  await process.change('group', 'g')
  const [group] = process.client.cache.scan('Port_Group')
  expect([group?.ports.length, process.client.cache.count('Logical_Switch_Port')]).toEqual([99, 99])
  expect([...unguarded]).toEqual([])
})

it('gives a port back to its group in one transaction when somebody takes it out', async () => {
  world.groups.add('g')
  for (const port of name(3)) world.ports.set(port, { on: 'blue', groups: ['g'] })
  await using process = await startProcess(northbound, world)
  const before = await northbound.transactions()
  const [group] = process.client.cache.scan('Port_Group')
  const [first = ''] = group?.ports ?? []
  await process.after(() => northbound.nbctl('remove', 'Port_Group', 'g', 'ports', first))
  const [mended] = process.client.cache.scan('Port_Group')
  expect(mended?.ports).toHaveLength(3)
  expect((await northbound.transactions()) - before).toBe(2)
})
