import { KubeAlreadyExistsError, type KubeObject } from '@kube-ovn/kube'
import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'
import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { ManualClock } from '@kube-ovn/time'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { KubeEvent, KubePatch } from './feature.ts'
import { emptySettings, features, startProcess, widgets } from './kernel-fixture.ts'

let northbound: Northbound
beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())
beforeEach(() => northbound.reset())

class TestError extends KubeOvnError<{ field: string }> {
  readonly code = 'test'
  readonly retry: RetryClass
  constructor(retry: RetryClass) {
    super('cannot be used', { field: 'spec.x' })
    this.retry = retry
  }
}

const widget: KubeObject = { metadata: { name: 'blue', uid: 'u1', labels: { old: '1' } } }

function label(value: string): KubePatch {
  return { resource: widgets, name: 'blue', merge: { metadata: { labels: { allocated: value } } } }
}

function event(message: string): KubeEvent {
  const regarding = { resource: widgets, name: 'blue', uid: 'u1' }
  return { regarding, type: 'Warning', reason: 'Test', message }
}

it('patches an object once its rows are committed, and only what differs', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  process.objects.put(widgets, 'blue', widget)
  await process.kernel.quiet()
  process.objects.onWrite = () => expect(process.client.cache.count('Logical_Switch')).toBe(1)
  const status: KubePatch = {
    resource: widgets,
    name: 'blue',
    subresource: 'status',
    merge: { status: { ready: true } },
  }
  world.switches.set('blue', { more: { patches: [label('true'), status] } })
  await process.change('switch', 'blue')
  const lines = [
    'patch widgets blue {"metadata":{"labels":{"allocated":"true"}}}',
    'patch widgets/status blue {"status":{"ready":true}}',
  ]
  expect(process.objects.writes).toEqual(lines)
  await process.change('switch', 'blue')
  expect(process.objects.writes).toEqual(lines)
  expect(process.kernel.recomputeAll().writes).toEqual([])
})

it('does not wait with other keys for a patch, nor takes its key before the answer', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  process.objects.put(widgets, 'blue', widget)
  await process.kernel.quiet()
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  process.objects.onWrite = () => {
    begun.resolve()
    return answer.promise
  }
  world.switches.set('blue', { more: { patches: [label('1')] } })
  const first = process.change('switch', 'blue')
  let writesBefore: number | undefined
  await begun.promise
  world.switches.set('blue', { more: { patches: [label('2')] } })
  world.switches.set('red', {})
  await process.after(async () => {
    void process.change('switch', 'blue', 'red')
    const committed = Promise.withResolvers<void>()
    process.client.onChange(() => committed.resolve())
    await committed.promise
    writesBefore = process.objects.writes.length
    answer.resolve()
  })
  expect(writesBefore).toBe(1)
  await first
  expect(process.objects.writes.at(-1)).toBe('patch widgets blue {"metadata":{"labels":{"allocated":"2"}}}')
})

it('holds patches while the rows are refused', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world, { lock: 'held_by_nobody' })
  process.objects.put(widgets, 'blue', widget)
  world.switches.set('blue', { more: { patches: [label('true')] } })
  await process.change('switch', 'blue')
  expect(process.objects.writes).toEqual([])
  expect(process.logger.lines.at(-1)).toMatchObject({
    message: 'key failed',
    fields: { err: { code: 'ovsdb-not-owner' } },
  })
})

it('is not ready while nothing can be written, and is while a single key is refused', async () => {
  const clock = new ManualClock()
  const world = emptySettings()
  await using process = await startProcess(northbound, world, { clock, lock: 'kernel_test' })
  world.switches.set('blue', {})
  await process.change('switch', 'blue')
  clock.advance(400)
  await process.kernel.quiet()
  expect(process.kernel.oldestUnservedMs).toBe(400)
  expect([process.kernel.isReady(399), process.kernel.isReady(400)]).toEqual([false, true])
  const lock = process.client.lock('kernel_test')
  if (!lock.isOwned) await new Promise((resolve) => lock.onChange(resolve))
  clock.advance(60_000)
  await process.kernel.quiet()
  expect(process.client.cache.count('Logical_Switch')).toBe(1)
  expect(process.kernel.oldestUnservedMs).toBe(0)

  // VLAN tags end at 4095.
  world.ports.set('bad', { on: 'blue', tag: 5000 })
  await process.change('port', 'bad')
  clock.advance(60_000)
  await process.kernel.quiet()
  expect(process.kernel.isReady(0)).toBe(true)
})

it('creates, and reads an object that turned out to exist', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  const create: KubePatch = {
    resource: widgets,
    name: 'blue',
    create: widget,
    merge: { metadata: { labels: { a: '1' } } },
  }
  process.objects.onWrite = (line) => {
    if (!line.startsWith('create')) {
      if (line.startsWith('get')) process.objects.put(widgets, 'blue', widget)
      return
    }
    const details = {
      method: 'POST',
      path: '',
      status: 409,
      reason: 'AlreadyExists',
      answer: '',
      causes: [],
      hasName: true,
    }
    throw new KubeAlreadyExistsError('exists', details)
  }
  world.switches.set('blue', { more: { patches: [create] } })
  await process.change('switch', 'blue')
  expect(process.objects.writes).toEqual([
    'create widgets blue',
    'get widgets blue',
    'patch widgets blue {"metadata":{"labels":{"a":"1"}}}',
  ])
})

it('sends an event once for as long as there is reason for it', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  world.switches.set('blue', { more: { events: [event('one'), event('one')] } })
  await process.change('switch', 'blue')
  await process.change('switch', 'blue')
  expect(process.objects.events.map(({ message }) => message)).toEqual(['one'])
  world.switches.set('blue', { more: { events: [event('two')] } })
  await process.change('switch', 'blue')
  world.switches.set('blue', { more: { events: [event('one')] } })
  await process.change('switch', 'blue')
  expect(process.objects.events.map(({ message }) => message)).toEqual(['one', 'two', 'one'])
})

it('retries what may change by itself, and waits for a change where the user must act', async () => {
  const world = emptySettings()
  const clock = new ManualClock()
  await using process = await startProcess(northbound, world, { clock, random: () => 0 })
  let observed = 0
  const spec = (retry: RetryClass) => ({
    get more() {
      observed++
      return { problem: new TestError(retry) }
    },
  })
  world.switches.set('blue', spec('backoff'))
  await process.change('switch', 'blue')
  expect(observed).toBe(1)
  clock.advance(100)
  await process.kernel.quiet()
  expect(observed).toBe(2)
  clock.advance(199)
  await process.kernel.quiet()
  expect(observed).toBe(2)
  clock.advance(1)
  await process.kernel.quiet()
  expect(observed).toBe(3)
  world.switches.set('blue', spec('on-change'))
  await process.change('switch', 'blue')
  expect(clock.pendingTimers).toBe(0)
  const lines = process.logger.lines.filter(({ level }) => level === 'warn' || level === 'error')
  expect(lines.map(({ message, fields }) => [message, fields.key])).toEqual([['key failed', 'blue']])
})

it('parks a key whose feature throws, and nothing else', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  world.switches.set('bad', {
    get more(): never {
      throw new TypeError('a defect')
    },
  })
  world.switches.set('good', {})
  await process.change('switch', 'bad', 'good')
  expect(await northbound.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')).toBe('good')
  expect(process.logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { message: 'key parked', fields: { feature: 'switch', key: 'bad' } },
  ])
  expect([...process.kernel.recomputeAll().failed.keys()]).toEqual(['switch/bad'])
})

it('tells no object of a port whose switch is not there, nor would it if everything were looked at anew', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  world.ports.set('web', { on: 'nowhere', more: { patches: [label('true')] } })
  process.objects.put(widgets, 'blue', widget)
  await process.change('port', 'web')
  expect(process.objects.writes).toEqual([])
  const { writes, waiting } = process.kernel.recomputeAll()
  expect([...waiting.keys()]).toEqual(['port/web'])
  expect(writes).toEqual([])
})

it('leaves the rows of a key that is on hold, and still tells the user', async () => {
  const world = emptySettings()
  world.switches.set('blue', { config: { subnet: '10.0.0.0/24' } })
  await using process = await startProcess(northbound, world)
  const before = await northbound.transactions()
  process.objects.put(widgets, 'blue', widget)
  world.switches.set('blue', {
    more: { hold: true, rows: [], patches: [label('held')], problem: new TestError('on-change') },
  })
  await process.change('switch', 'blue')
  expect(await northbound.transactions()).toBe(before)
  expect(process.objects.writes).toHaveLength(1)
  expect(process.kernel.recomputeAll().steps).toEqual([])
})

it('serves a paced feature at once and then once a period', async () => {
  const clock = new ManualClock()
  const world = emptySettings()
  const paced = features.map((feature) =>
    feature.name === 'switch' ? { ...feature, paceMs: 1000 } : feature,
  )
  await using process = await startProcess(northbound, world, { clock, features: paced })
  world.switches.set('blue', {})
  await process.change('switch', 'blue')
  const before = await northbound.transactions()
  world.switches.set('blue', { config: { a: '1' } })
  const changed = process.change('switch', 'blue')
  world.switches.set('blue', { config: { a: '2' } })
  expect(process.kernel.isReady(500)).toBe(true)
  clock.advance(1000)
  await changed
  expect(await northbound.transactions()).toBe(before + 1)
  expect(await northbound.nbctl('get', 'Logical_Switch', 'blue', 'other_config:a')).toBe('"2"')
})

it('writes what a feature wants that has a reader to wait for at once, and what came soon after it in one transaction', async () => {
  const clock = new ManualClock()
  const world = emptySettings()
  const apart = features.map((feature) =>
    feature.name === 'switch' ? { ...feature, apartMs: () => 500 } : feature,
  )
  await using process = await startProcess(northbound, world, { clock, features: apart })
  const before = await northbound.transactions()
  world.switches.set('blue', {})
  await process.change('switch', 'blue')
  expect(await northbound.transactions()).toBe(before + 1)
  // It lacks nothing, so nobody waits for it.
  clock.advance(500)
  await process.change('switch', 'blue')
  for (const name of ['red', 'green']) world.switches.set(name, {})
  await process.change('switch', 'red', 'green')
  expect(await northbound.transactions()).toBe(before + 2)
  world.switches.set('blue', { config: { a: '1' } })
  const blue = process.change('switch', 'blue')
  clock.advance(499)
  world.switches.delete('red')
  const red = process.change('switch', 'red')
  world.ports.set('p0', { on: 'green' })
  process.kernel.enqueue('port', 'p0')
  await vi.waitUntil(() => process.client.cache.count('Logical_Switch_Port') === 1)
  expect(await northbound.transactions()).toBe(before + 3)
  expect(process.client.cache.count('Logical_Switch')).toBe(3)
  clock.advance(1)
  await Promise.all([blue, red])
  expect(await northbound.transactions()).toBe(before + 4)
  expect(await northbound.nbctl('get', 'Logical_Switch', 'blue', 'other_config:a')).toBe('"1"')
  expect(process.client.cache.count('Logical_Switch')).toBe(2)
})

it('plans without doing', async () => {
  const world = emptySettings()
  await using process = await startProcess(northbound, world)
  world.switches.set('blue', {})
  const { outcomes } = process.kernel.plan([{ feature: 'switch', key: 'blue' }])
  expect(outcomes).toEqual([
    { outcome: 'inserted', owner: 'switch/blue', id: 'ls/blue', table: 'Logical_Switch' },
  ])
  expect(process.client.cache.count('Logical_Switch')).toBe(0)
})

it('tells, once, at whose object a row is not made, as another one has its name, and makes it when that is gone', async () => {
  const world = emptySettings()
  world.switches.set('blue', {})
  const clock = new ManualClock()
  await using process = await startProcess(northbound, world, { clock })
  process.objects.put(widgets, 'p1', { metadata: { name: 'p1', uid: 'u1' } })
  await process.after(() => northbound.nbctl('ls-add', 'other', '--', 'lsp-add', 'other', 'p1'))
  for (const key of ['p0', 'p1']) world.ports.set(key, { on: 'blue' })
  await process.change('port', 'p0', 'p1')
  await process.change('port', 'p1')
  expect(await northbound.nbctl('lsp-list', 'blue')).toMatch(/^\S+ \(p0\)\s*$/)
  expect(process.objects.events).toEqual([
    {
      regarding: { resource: widgets, name: 'p1', uid: 'u1' },
      ...{ type: 'Warning', reason: 'NameTaken' },
      message:
        'a row would have the name of another one (field=metadata.name table=Logical_Switch_Port value=p1 owner=port/p1 holder=somebody else); rename or delete one of the two objects',
    },
  ])
  await process.after(() => northbound.nbctl('lsp-del', 'p1'))
  await process.change('port', 'p1')
  expect(await northbound.nbctl('lsp-list', 'blue')).toMatch(/\(p0\)\n\S+ \(p1\)/)
})
