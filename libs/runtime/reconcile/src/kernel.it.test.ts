import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { startDatabase, startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { DatabaseSchema, OvsdbClient } from 'ovsdb-client'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { databaseOf, emptySettings, startProcess } from './kernel-fixture.ts'
import type { HeldDeletion } from './orphans.ts'

let northbound: Northbound
beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())
beforeEach(() => northbound.reset())

/** Every switch with the names of its ports. */
async function show(): Promise<readonly string[]> {
  const text = await northbound.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')
  const names = text.split(/\s+/).filter((name) => name !== '')
  const lines = names.map(async (name) => {
    const ports = await northbound.nbctl('lsp-list', name)
    return `${name}: ${[...ports.matchAll(/\((.*)\)/g)]
      .map(([, port]) => port)
      .sort()
      .join(' ')}`
  })
  return (await Promise.all(lines)).sort()
}

it('creates, changes and deletes, each in one transaction, and costs nothing when nothing differs', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  const before = await northbound.transactions()
  world.switches.set('blue', {})
  for (let n = 0; n < 20; n++) world.ports.set(`p${n}`, { on: 'blue', addresses: ['dynamic'] })
  await process.change('port', ...world.ports.keys())
  expect(await northbound.transactions()).toBe(before)
  await process.change('switch', 'blue')
  // The ports waited until the switch appeared.
  expect(await northbound.transactions()).toBe(before + 2)
  expect(process.client.cache.count('Logical_Switch_Port')).toBe(20)
  await process.change('port', ...world.ports.keys())
  expect(await northbound.transactions()).toBe(before + 2)
  expect(process.kernel.recomputeAll().steps).toEqual([])

  world.ports.set('p0', { on: 'blue', addresses: ['unknown'], tag: 7 })
  await process.change('port', 'p0')
  expect(await northbound.nbctl('get', 'Logical_Switch_Port', 'p0', 'addresses', 'tag')).toBe('[unknown]\n7')
  world.ports.clear()
  await process.change('port', ...Array.from({ length: 20 }, (_, n) => `p${n}`))
  expect(await show()).toEqual(['blue: '])
  world.switches.clear()
  await process.change('switch', 'blue')
  expect(await show()).toEqual([])
  expect(await northbound.transactions()).toBe(before + 5)
})

it('changes nothing when it is restarted, and catches up with what happened meanwhile', async () => {
  const world = emptySettings()
  for (const name of ['blue', 'red']) world.switches.set(name, {})
  for (const name of ['a', 'b']) world.ports.set(name, { on: 'blue' })
  {
    await using _first = await startProcess(northbound, world)
  }
  const before = await northbound.transactions()
  {
    await using _second = await startProcess(northbound, world)
    expect(await northbound.transactions()).toBe(before)
  }
  world.ports.delete('a')
  world.ports.set('c', { on: 'red' })
  await using third = await startProcess(northbound, world)
  expect(await show()).toEqual(['blue: b', 'red: c'])
  // An object that went away while nobody looked is collected apart from the rest.
  expect(await northbound.transactions()).toBe(before + 2)
  expect(third.kernel.recomputeAll().steps).toEqual([])
})

it('puts right what a stranger changes, and leaves his own rows alone', async () => {
  const world = emptySettings()
  world.switches.set('blue', { config: { subnet: '10.0.0.0/24' } })
  world.ports.set('web', { on: 'blue', addresses: ['dynamic'] })
  await northbound.nbctl('ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'other', '--', 'ls-add', 'red')
  await using process = await startProcess(northbound, world)
  const list = () => northbound.nbctl('--format=csv', 'list', 'Logical_Switch', 'foreign')
  const foreign = await list()

  await process.after(() => northbound.nbctl('lsp-set-addresses', 'web', 'unknown'))
  expect(await northbound.nbctl('lsp-get-addresses', 'web')).toBe('dynamic')
  await process.after(() => northbound.nbctl('remove', 'Logical_Switch', 'blue', 'other_config', 'subnet'))
  expect(await northbound.nbctl('get', 'Logical_Switch', 'blue', 'other_config:subnet')).toBe('"10.0.0.0/24"')
  await process.after(() => northbound.nbctl('lsp-del', 'web'))
  expect(await show()).toEqual(['blue: web', 'foreign: other', 'red: '])
  await process.after(() => northbound.nbctl('ls-del', 'blue'))
  expect(await show()).toEqual(['blue: web', 'foreign: other', 'red: '])
  await process.after(() => northbound.nbctl('clear', 'Logical_Switch_Port', 'web', 'external_ids'))
  expect(await list()).toBe(foreign)
})

it('isolates a key that the database refuses', async () => {
  const world = emptySettings()
  world.switches.set('blue', {})
  await using process = await startProcess(northbound, world)
  for (let n = 0; n < 8; n++) world.ports.set(`p${n}`, { on: 'blue' })
  // VLAN tags end at 4095.
  world.ports.set('bad', { on: 'blue', tag: 5000 })
  await process.change('port', ...world.ports.keys())
  expect(await show()).toEqual(['blue: p0 p1 p2 p3 p4 p5 p6 p7'])
  const [line] = process.logger.lines.filter(({ message }) => message === 'key failed')
  expect(line?.fields).toMatchObject({ feature: 'port', key: 'bad', err: { code: 'ovsdb-constraint' } })
  world.ports.set('bad', { on: 'blue', tag: 5 })
  await process.change('port', 'bad')
  expect(await show()).toEqual(['blue: bad p0 p1 p2 p3 p4 p5 p6 p7'])
})

it('adopts what upstream wrote, and collects the rest of it', async () => {
  const vendor = 'external_ids:vendor=kube-ovn'
  await northbound.nbctl(
    'ls-add',
    'blue',
    '--',
    'set',
    'Logical_Switch',
    'blue',
    vendor,
    'other_config:kept=yes',
  )
  await northbound.nbctl('ls-add', 'stale', '--', 'set', 'Logical_Switch', 'stale', vendor)
  for (const port of ['web', 'gone']) {
    await northbound.nbctl('lsp-add', 'blue', port, '--', 'set', 'Logical_Switch_Port', port, vendor)
  }
  const uuid = await northbound.nbctl('get', 'Logical_Switch_Port', 'web', '_uuid')
  const world = emptySettings()
  world.switches.set('blue', {})
  world.ports.set('web', { on: 'blue' })
  const before = await northbound.transactions()
  await using _process = await startProcess(northbound, world)
  expect(await northbound.transactions()).toBe(before + 2)
  expect(await show()).toEqual(['blue: web'])
  expect(await northbound.nbctl('get', 'Logical_Switch_Port', 'web', '_uuid')).toBe(uuid)
  expect(await northbound.nbctl('get', 'Logical_Switch', 'blue', 'other_config:kept')).toBe('yes')
})

it('holds a mass deletion of orphans until it is confirmed', async () => {
  const world = emptySettings()
  world.switches.set('blue', {})
  for (let n = 0; n < 60; n++) world.ports.set(`p${n}`, { on: 'blue' })
  {
    await using _first = await startProcess(northbound, world)
  }
  world.ports.clear()
  const before = await northbound.transactions()
  const held: (HeldDeletion | undefined)[] = []
  await using process = await startProcess(northbound, world, {
    onOrphansHeld: (some) => void held.push(some),
  })
  expect(held).toMatchObject([{ kinds: [{ kind: 'lsp', rows: 60, of: 60 }] }])
  expect(await northbound.transactions()).toBe(before)
  process.kernel.confirmOrphans('of another deletion')
  await process.kernel.quiet()
  expect(await northbound.transactions()).toBe(before)
  process.kernel.confirmOrphans(held[0]?.token ?? '')
  await process.kernel.quiet()
  expect(await show()).toEqual(['blue: '])
  expect(held.at(-1)).toBeUndefined()
  expect(held).toHaveLength(2)
})

it('goes on after the server was away', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  const back = Promise.withResolvers<void>()
  await northbound.stop()
  world.switches.set('blue', {})
  using _subscription = process.client.onState(({ phase }) => {
    if (phase === 'connected') back.resolve()
  })
  const changed = process.change('switch', 'blue')
  await northbound.start()
  await back.promise
  await changed
  expect(await show()).toEqual(['blue: '])
})

it('does not answer somebody who always writes back at the speed of the network', async () => {
  const world = emptySettings()
  world.switches.set('blue', { config: { a: 'ours' } })
  await using process = await startProcess(northbound, world)
  const healedAtMs: number[] = []
  const paused = Promise.withResolvers<void>()
  const { client, logger } = process
  using _stranger = client.onChange((changes) => {
    for (const { table, uuid, new: row } of changes) {
      if (table !== 'Logical_Switch' || row?.other_config['a'] !== 'ours') continue
      healedAtMs.push(performance.now())
      // The first one after the warning has waited.
      if (logger.lines.some(({ message }) => message === 'rows fought over')) paused.resolve()
      else void client.transact([client.operations.update(table, uuid, { other_config: { a: 'theirs' } })])
    }
  })
  await northbound.nbctl('set', 'Logical_Switch', 'blue', 'other_config:a=theirs')
  await paused.promise
  const [last = 0, before = 0] = healedAtMs.toReversed()
  expect(last - before).toBeGreaterThan(900)
})

it('takes for drift what somebody writes on top of what is under way, and not for its own failure', async () => {
  const world = emptySettings()
  world.switches.set('blue', { config: { a: 'ours' } })
  let others = 0
  const overwritten = (client: OvsdbClient<OvnNorthbound>): Database =>
    databaseOf(client, async (operations) => {
      const results = await client.transact(operations)
      if (others-- > 0) {
        const [blue] = client.cache.scan('Logical_Switch')
        const theirs = { other_config: { a: 'theirs' } }
        if (blue !== undefined)
          await client.transact([client.operations.update('Logical_Switch', blue._uuid, theirs)])
      }
      return results
    })
  await using process = await startProcess(northbound, world, {}, overwritten)
  const told = (): readonly string[] =>
    process.logger.lines
      .filter(({ level }) => level !== 'info' && level !== 'debug')
      .map(({ message }) => message)
  others = 1
  world.switches.set('blue', { config: { a: 'ours', b: 'more' } })
  await process.change('switch', 'blue')
  expect(await northbound.nbctl('get', 'Logical_Switch', 'blue', 'other_config:a')).toBe('ours')
  expect(told()).toEqual([])
  // Twice in a row it is no chance any more.
  others = 2
  world.switches.set('blue', { config: { a: 'ours', b: 'most' } })
  await process.change('switch', 'blue')
  expect(told()).toEqual(['key failed'])
})

it('leaves out what an older database lacks, tells it once, and makes up for it after a conversion', async () => {
  const { Logical_Switch, Logical_Switch_Port, ...others } = ovnNorthboundSchema.tables
  const { other_config: _config, ...switchColumns } = Logical_Switch.columns
  const { tag: _tag, ...portColumns } = Logical_Switch_Port.columns
  const older = {
    ...others,
    Logical_Switch: { ...Logical_Switch, columns: switchColumns },
    Logical_Switch_Port: { ...Logical_Switch_Port, columns: portColumns },
  }
  const schema: DatabaseSchema = { ...ovnNorthboundSchema, tables: older }
  await using database = await startDatabase(schema)
  const nbctl = (...args: readonly string[]) =>
    database.run('ovn-nbctl', `--db=${database.server.socket}`, ...args)
  await nbctl('init')
  const world = emptySettings()
  world.switches.set('blue', { config: { subnet: '10.0.0.0/24' } })
  world.ports.set('web', { on: 'blue', addresses: ['dynamic'], tag: 5 })
  await using process = await startProcess(database.server, world)
  expect(await nbctl('lsp-get-addresses', 'web')).toBe('dynamic\n')
  expect(process.kernel.recomputeAll().steps).toEqual([])
  await process.change('port', 'web')
  const warnings = () => process.logger.lines.filter(({ level }) => level !== 'info' && level !== 'debug')
  expect(warnings().map(({ message, fields }) => [message, fields['missing']])).toEqual([
    ['columns missing in the database', ['Logical_Switch.other_config', 'Logical_Switch_Port.tag']],
  ])
  const written = Promise.withResolvers<void>()
  using _subscription = process.client.onChange((changes) => {
    if (changes.some(({ new: row }) => row !== undefined && 'tag' in row && row.tag === 5)) written.resolve()
  })
  await database.run('ovsdb-client', 'convert', database.server.socket, '/usr/share/ovn/ovn-nb.ovsschema')
  await written.promise
  await process.kernel.quiet()
  const { socket } = database.server
  const dump = await database.run(
    'ovsdb-client',
    'dump',
    socket,
    'OVN_Northbound',
    'Logical_Switch',
    'other_config',
  )
  expect(dump).toContain('{subnet="10.0.0.0/24"}')
  expect(process.kernel.recomputeAll().steps).toEqual([])
})
