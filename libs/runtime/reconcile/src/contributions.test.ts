import { recordingLogger } from '@kube-ovn/log'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import type { Operation } from 'ovsdb-client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nothing, type Feature } from './feature.ts'
import { Kernel } from './kernel.ts'
import { LocalObjects } from './local-objects.ts'
import { kinds, row, schema } from './plan-fixture.ts'
import { mapOf } from './rows.ts'
import { Signals } from './signals.ts'
import type { Step } from './steps.ts'
import { SimulatedServer } from './testing/simulated-server.ts'

/** What each service contributes to the mappings of the only balancer. */
type World = Map<string, Readonly<Record<string, string>>>

const column = 'ip_port_mappings'
const balancer = { kind: 'lb', id: 'lb' }

/** Before the value of an entry that a service has none of in any case. */
const withdrawal = /^not /

/** Before that of one of a service that can not be read at present. */
const slip = 'unclear '

let server: SimulatedServer
let world: World
let process: ReturnType<typeof start>

beforeEach(() => {
  server = new SimulatedServer()
  world = new Map()
})
afterEach(() => process.kernel[Symbol.asyncDispose]())

const balancers: Feature<string, true, World> = {
  name: 'balancer',
  kinds: [kinds.lb],
  triggers: [],
  initialKeys: () => ['lb'],
  observe: () => true,
  desired: () => ({ ...nothing, rows: [row(kinds.lb, 'lb')] }),
}

function start() {
  const client = server.open({ onTransact: () => 'fine', onCommitted: () => 'fine' })
  const sent: Operation[] = []
  const observed: string[] = []
  const beside: number[] = []
  let underWay = 0
  const signals = new Signals()
  const logger = recordingLogger()
  const services: Feature<string, Readonly<Record<string, string>>, World> = {
    name: 'service',
    kinds: [],
    memberships: [{ kind: 'lb', column }],
    triggers: [{ on: 'signal', signal: 'service', keys: (key) => [key] }],
    initialKeys: () => world.keys(),
    observe(key) {
      observed.push(key)
      return world.get(key)
    },
    desired(_key, entries = {}) {
      if (Object.values(entries).some((text) => text.startsWith(slip))) return { ...nothing, hold: true }
      const all = Object.entries(entries).map(([key, text]) => {
        const value = text.replace(withdrawal, '')
        return { isWanted: value === text, member: { of: balancer, column, key, value } }
      })
      const members = (isWanted: boolean) =>
        all.filter((one) => one.isWanted === isWanted).map(({ member }) => member)
      return { ...nothing, members: members(true), withdrawn: members(false) }
    },
  }
  const kernel = new Kernel<World>({
    features: [balancers, services],
    world,
    database: {
      cache: client.cache,
      get state() {
        return client.state
      },
      onState: (listener) => client.onState(listener),
      onChange: (listener) => client.onChange(listener),
      async transact(operations) {
        sent.push(...operations)
        beside.push(underWay++)
        try {
          return await client.transact(operations)
        } finally {
          underWay--
        }
      },
    },
    schema,
    objects: new LocalObjects([]),
    signals,
    clock: new ManualClock(),
    logger,
    metrics: kernelMetrics(new Registry()),
    batchSize: 1,
  })
  kernel.start()
  return {
    kernel,
    sent,
    observed,
    /** How many others were under way when a transaction was sent. */
    beside,
    /** What keys were told that they can not have. */
    problems: () =>
      logger.lines.flatMap(({ fields }) => (fields?.['err'] === undefined ? [] : [fields['err']])),
    signals,
    async change(key: string, entries?: Readonly<Record<string, string>>): Promise<void> {
      if (entries === undefined) world.delete(key)
      else world.set(key, entries)
      signals.raise('service', key)
      await kernel.quiet()
    },
  }
}

async function restart(): Promise<void> {
  await process.kernel[Symbol.asyncDispose]()
  process = start()
  await process.kernel.quiet()
}

function mappings(): Readonly<Record<string, unknown>> {
  const [found] = server.rows.find('Load_Balancer', 'external_ids:id', 'lb/lb')
  return found === undefined ? {} : mapOf(found, column)
}

function stranger(...mutations: Extract<Step, { do: 'mutate' }>['mutations']): Promise<void> {
  const [found] = server.rows.find('Load_Balancer', 'external_ids:id', 'lb/lb')
  server.apply([{ do: 'mutate', table: 'Load_Balancer', uuid: found?._uuid ?? '', mutations }])
  return process.kernel.quiet()
}

it('sends one entry when one of 10,000 that are contributed changes, and nothing of the others', async () => {
  for (let n = 0; n < 10; n++)
    world.set(`s${n}`, Object.fromEntries(Array.from({ length: 1000 }, (_, m) => [`${n}:${m}`, 'old'])))
  process = start()
  await process.kernel.quiet()
  expect(Object.keys(mappings())).toHaveLength(10_000)
  process.sent.length = 0
  await process.change('s7', { ...world.get('s7'), '7:7': 'new' })
  expect(process.sent).toMatchObject([
    {
      op: 'mutate',
      mutations: [
        [column, 'delete', ['map', [['7:7', 'old']]]],
        [column, 'insert', ['map', [['7:7', 'new']]]],
      ],
    },
  ])
  expect(mappings()).toMatchObject({ '7:7': 'new', '7:8': 'old' })
})

it('leaves an entry to who has it, tells the others, and lets one have it as soon as it is free', async () => {
  world.set('b', { x: '1' })
  process = start()
  await process.kernel.quiet()
  await process.change('a', { x: '2', y: '2' })
  expect(mappings()).toEqual({ x: '1', y: '2' })
  expect(process.problems()).toMatchObject([
    {
      code: 'reconcile-entry-claimed-twice',
      details: {
        field: 'lb/lb ip_port_mappings:x',
        value: '2',
        owner: 'service/a',
        holder: 'service/b',
      },
    },
  ])
  // Nobody waits for a retry: the clock stands still.
  await process.change('b')
  expect(mappings()).toEqual({ x: '2', y: '2' })
})

it('takes out with one plan what a key withdraws, but for what another one is known to want', async () => {
  world.set('b', { z: '1' })
  world.set('a', { x: '1', y: '1' })
  process = start()
  await process.kernel.quiet()
  await process.kernel[Symbol.asyncDispose]()
  world.set('a', { x: 'not 1', y: '2', z: 'not 1' })
  const before = server.transactions
  process = start()
  await process.kernel.quiet()
  expect(mappings()).toEqual({ y: '2', z: '1' })
  expect(server.transactions - before).toBe(1)
})

it('wakes who waits for an entry when it becomes what it wants', async () => {
  world.set('b', { x: '1' })
  process = start()
  await process.kernel.quiet()
  await process.change('a', { x: '2' })
  process.observed.length = 0
  await process.change('b', { x: '2' })
  expect(process.observed).toEqual(['b', 'a'])
  await process.change('b')
  expect(mappings()).toEqual({ x: '2' })
})

it('leaves an entry after a restart to who has it in the database, in whatever order they come', async () => {
  for (const keys of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    server = new SimulatedServer()
    world.clear()
    world.set('b', { x: '1' })
    process = start()
    await process.kernel.quiet()
    await process.change('a', { x: '2' })
    for (const key of keys) {
      const entries = world.get(key) ?? {}
      world.delete(key)
      world.set(key, entries)
    }
    const before = server.transactions
    await restart()
    expect([mappings(), server.transactions]).toEqual([{ x: '1' }, before])
    await process.change('b')
    expect(mappings()).toEqual({ x: '2' })
    await process.kernel[Symbol.asyncDispose]()
  }
})

it('takes over, after a restart, what turns out to be nobody’s', async () => {
  world.set('b', { x: '1', y: '1' })
  process = start()
  await process.kernel.quiet()
  world.set('b', { y: '1' })
  world.delete('a')
  const rest = world.get('b') ?? {}
  world.clear()
  world.set('a', { x: '2' })
  world.set('b', rest)
  await restart()
  expect(mappings()).toEqual({ x: '2', y: '1' })
  expect(process.problems()).toEqual([])
})

it('changes, after a restart, what keys want to be another one, whoever holds, and takes nothing from him', async () => {
  for (const keys of ['abc', 'bca', 'cab']) {
    server = new SimulatedServer()
    world.clear()
    for (const key of 'abc') world.set(key, { [key]: '1' })
    process = start()
    await process.kernel.quiet()
    world.clear()
    for (const key of keys) world.set(key, { [key]: key === 'b' ? `${slip}1` : '2' })
    await restart()
    expect([keys, mappings()]).toEqual([keys, { a: '2', b: '1', c: '2' }])
    await process.change('b', { b: '3' })
    expect(mappings()).toEqual({ a: '2', b: '3', c: '2' })
    await process.kernel[Symbol.asyncDispose]()
  }
})

it('looks only at the key whose entry a stranger changed or deleted, and at none for one that is nobody’s', async () => {
  for (const key of ['a', 'b', 'c']) world.set(key, { [key]: '1' })
  process = start()
  await process.kernel.quiet()
  process.observed.length = 0
  await stranger([column, 'delete', ['a']])
  expect(process.observed).toEqual(['a'])
  await stranger([column, 'delete', ['b']], [column, 'insert', { b: '9' }])
  expect(process.observed).toEqual(['a', 'b'])
  await stranger([column, 'insert', { theirs: '9' }])
  expect(process.observed).toEqual(['a', 'b'])
  expect(mappings()).toEqual({ a: '1', b: '1', c: '1' })
})

it('sends what keys contribute to a row of others without waiting for what others do, but for one entry', async () => {
  process = start()
  await process.kernel.quiet()
  process.beside.length = 0
  for (const key of ['a', 'b', 'c']) world.set(key, { [key]: '1' })
  for (const key of world.keys()) process.signals.raise('service', key)
  await process.kernel.quiet()
  expect(process.beside).toEqual([0, 1, 1])
  process.beside.length = 0
  for (const key of ['d', 'e']) world.set(key, { same: '1' })
  for (const key of ['d', 'e']) process.signals.raise('service', key)
  await process.kernel.quiet()
  expect([process.beside, mappings()]).toEqual([[0], { a: '1', b: '1', c: '1', same: '1' }])
})
