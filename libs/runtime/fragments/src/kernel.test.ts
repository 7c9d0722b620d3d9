import { recordingLogger } from '@kube-ovn/log'
import { rowTable, sourceTable } from '@kube-ovn/tables'
import { fragmentMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BadLineError, BoardSink, type Lines } from './board-sink.fixture.ts'
import { contribution, type Answer, type NodeFeature } from './feature.ts'
import { FragmentKernel } from './kernel.ts'
import type { Sink, SinkKind } from './sink.ts'

interface Wish {
  readonly board: string
  readonly text: string
}

const wishes = sourceTable<Wish>({ name: 'wishes' })
const others = sourceTable<Wish>({ name: 'others' })

function feature(name: string, sink: SinkKind<Lines>, of = wishes): NodeFeature {
  const table = rowTable({
    name: `${name} of ${sink.name}`,
    of,
    row: ({ board, text }): Answer<Lines> | undefined => {
      if (text === 'wait') return { wait: 'somebody to say something' }
      const [, after] = /^after (\d+)/.exec(text) ?? []
      if (after !== undefined) return { want: { board, lines: [text] }, afterMs: Number(after) }
      if (text === 'problem') return { problem: new BadLineError('line is a problem', { line: text }) }
      if (text === 'own problem')
        return { problem: new BadLineError('line is a problem', { line: text }), about: [board] }
      return { want: { board, lines: [`${name} ${text}`.replace(`${name} bad`, 'bad')] } }
    },
  })
  return { name, contributions: [contribution(sink, table)] }
}

let clock: ManualClock
let registry: Registry
let log: ReturnType<typeof recordingLogger>
let stack: AsyncDisposableStack
let rows: Map<string, Wish>
let otherRows: Map<string, Wish>
let refused: unknown[]

beforeEach(() => {
  clock = new ManualClock()
  registry = new Registry()
  log = recordingLogger()
  stack = new AsyncDisposableStack()
  rows = new Map([['a', { board: 'x', text: 'hello' }]])
  otherRows = new Map()
  refused = []
})
afterEach(() => stack.disposeAsync())

function start(features: readonly NodeFeature[], lanes: readonly (readonly Sink<Lines>[])[]): FragmentKernel {
  const kernel = stack.use(
    new FragmentKernel({
      ...{ features, lanes, clock, log, random: () => 0 },
      metrics: fragmentMetrics(registry),
      onRefused: (name, problem) => refused.push([name, problem]),
    }),
  )
  for (const [table, source] of [
    [wishes, rows],
    [others, otherRows],
  ] as const) {
    if (!kernel.sources.includes(table)) continue
    kernel.attach(table, {
      get: (key) => source.get(key),
      keys: () => source.keys(),
      keysOf: () => [],
    })
  }
  kernel.start()
  return kernel
}

async function put(kernel: FragmentKernel, key: string, wish: Wish | undefined, of = wishes): Promise<void> {
  const source = of === wishes ? rows : otherRows
  const old = source.get(key)
  if (wish === undefined) source.delete(key)
  else source.set(key, wish)
  kernel.changed(of, key, old, wish)
  await kernel.quiet()
}

/** Nothing was missed: looking at everything from the beginning finds nothing. */
async function settle(kernel: FragmentKernel): Promise<void> {
  await kernel.quiet()
  expect(await kernel.recomputeAll()).toEqual([])
}

/** Lets everything happen that needs no time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

async function metric(name: string): Promise<number> {
  const metrics = await registry.getMetricsAsJSON()
  const found = metrics.find((one) => one.name === name)
  return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0)
}

describe('a node', () => {
  it('becomes what is wanted, and what is wanted then', async () => {
    const sink = new BoardSink('boards')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['one hello'])
    await put(kernel, 'a', { board: 'x', text: 'bye' })
    await put(kernel, 'b', { board: 'y', text: 'there' })
    await settle(kernel)
    expect([...sink.actual]).toEqual([
      ['x', ['one bye']],
      ['y', ['one there']],
    ])
    await put(kernel, 'b', undefined)
    await settle(kernel)
    expect(sink.actual.get('y')).toEqual([])
    expect(await metric('kube_ovn_node_writes_total')).toBe(4)
    expect(await metric('kube_ovn_drift_found_total')).toBe(0)
  })

  it('is not written by a start that finds it as it should be, nor looked at while nothing happens', async () => {
    const sink = new BoardSink('boards')
    sink.actual.set('x', ['one hello'])
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    const { plans } = sink
    clock.advance(3_600_000)
    await kernel.quiet()
    // Neither does a row that says the same.
    await put(kernel, 'a', { board: 'x', text: 'hello' })
    expect([sink.writes, sink.plans, clock.pendingTimers]).toEqual([[], plans, 0])
  })

  it('is put right when somebody else touches it, and left alone where nothing is wanted', async () => {
    const sink = new BoardSink('boards')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    sink.scribble('x', 'nonsense')
    sink.scribble('z', 'of others')
    await settle(kernel)
    expect([...sink.actual]).toEqual([
      ['x', ['one hello']],
      ['z', ['of others']],
    ])
    expect(await metric('kube_ovn_drift_found_total')).toBe(1)
    expect(await metric('kube_ovn_drift_healed_total')).toBe(1)
  })

  it('is not fought over: after ten times it is put right once a second', async () => {
    const sink = new BoardSink('boards')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    for (let time = 0; time < 10; time++) {
      sink.scribble('x', 'nonsense')
      await turns()
    }
    expect(sink.writes).toHaveLength(11)
    sink.scribble('x', 'nonsense')
    await turns()
    expect(sink.writes).toHaveLength(11)
    clock.advance(1000)
    await turns()
    expect(sink.writes).toHaveLength(12)
    expect(sink.actual.get('x')).toEqual(['one hello'])
    clock.advance(10_000)
    await settle(kernel)
  })
})

describe('a fragment', () => {
  it('that is bad is told, and stops no other: neither of its target nor of its feature', async () => {
    const sink = new BoardSink('boards')
    const features = [feature('one', sink.kind), feature('two', sink.kind, others)]
    otherRows.set('b', { board: 'x', text: 'there' })
    rows.set('c', { board: 'y', text: 'fine' })
    const kernel = start(features, [[sink]])
    await settle(kernel)
    await put(kernel, 'a', { board: 'x', text: 'bad' })
    await put(kernel, 'b', { board: 'x', text: 'then' }, others)
    await put(kernel, 'c', { board: 'y', text: 'better' })
    await settle(kernel)
    // The last good one stays.
    expect([...sink.actual]).toEqual([
      ['x', ['one hello', 'two then']],
      ['y', ['one better']],
    ])
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { feature: 'one', key: 'a', err: expect.any(BadLineError) } },
    ])
    expect(refused).toMatchObject([['one', { code: 'bad-line' }]])
    expect(await metric('kube_ovn_node_fragments_refused')).toBe(1)
    await put(kernel, 'a', { board: 'x', text: 'good' })
    expect(sink.actual.get('x')).toEqual(['one good', 'two then'])
    expect(await metric('kube_ovn_node_fragments_refused')).toBe(0)
  })

  it('about a part without a name is a defect of it, and stops no other', async () => {
    const sink = new BoardSink('boards')
    rows.set('a', { board: '', text: 'nowhere' })
    rows.set('b', { board: 'x', text: 'hello' })
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    expect([...sink.actual]).toEqual([['x', ['one hello']]])
    expect(refused).toMatchObject([['one', { code: 'invalid-fragment' }]])
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { feature: 'one', key: 'a', err: { details: { field: 'target of boards', value: '' } } } },
    ])
    await put(kernel, 'a', { board: 'y', text: 'here' })
    await settle(kernel)
    expect(sink.actual.get('y')).toEqual(['one here'])
    expect(await kernel.recomputeAll()).toEqual([])
  })

  it.each(['bad', 'problem', 'wait'])('that was never good stops no other: %s', async (text) => {
    const sink = new BoardSink('boards')
    rows.set('a', { board: 'x', text })
    otherRows.set('b', { board: 'x', text: 'there' })
    sink.actual.set('x', ['one of an earlier life'])
    const kernel = start([feature('one', sink.kind), feature('two', sink.kind, others)], [[sink]])
    await settle(kernel)
    // What it may want is not taken away while nobody knows.
    expect(sink.actual.get('x')).toEqual(['two there', 'one of an earlier life'])
    await put(kernel, 'a', { board: 'x', text: 'known' })
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['one known', 'two there'])
  })
})

describe('a source that has not told yet what there is', () => {
  /** Rows of `wishes` that come when they come, behind a table that is derived of them. */
  function startLate(sinks: readonly BoardSink[]): { readonly kernel: FragmentKernel; arrive(): void } {
    const late = rowTable({ name: 'late wishes', of: wishes, row: (wish) => wish })
    const ofLate = (sink: BoardSink): NodeFeature => feature('late', sink.kind, late)
    const features = sinks.slice(0, 1).map(ofLate)
    const kernel = stack.use(
      new FragmentKernel({
        ...{ lanes: [sinks], clock, log, random: () => 0, metrics: fragmentMetrics(registry) },
        features: [...features, ...sinks.map((sink) => feature('prompt', sink.kind, others))],
      }),
    )
    let isKnown = false
    const none: ReadonlyMap<string, Wish> = new Map()
    const seen = (): ReadonlyMap<string, Wish> => (isKnown ? rows : none)
    kernel.attach(wishes, {
      ...{ get: (key) => seen().get(key), keys: () => seen().keys(), keysOf: () => [] },
      isKnown: () => isKnown,
    })
    kernel.attach(others, {
      ...{ get: (key) => otherRows.get(key), keys: () => otherRows.keys(), keysOf: () => [] },
    })
    kernel.start()
    const arrive = (): void => {
      isKnown = true
      for (const [key, row] of rows) kernel.changed(wishes, key, undefined, row)
    }
    return { kernel, arrive }
  }

  it('has nothing taken away that it may want, even where a sink is touched as it comes', async () => {
    const sink = new BoardSink('boards')
    sink.actual.set('x', ['late hello']).set('y', ['of an earlier life'])
    sink.marked = ['x', 'y']
    const { kernel, arrive } = startLate([sink])
    await settle(kernel)
    expect(sink.writes).toEqual([])
    // What comes is told to sinks before anything is derived of it.
    arrive()
    sink.scribble('x', 'late hello')
    await settle(kernel)
    expect([...sink.actual]).toEqual([
      ['x', ['late hello']],
      ['y', []],
    ])
    expect(sink.writes).toEqual(['y'])
  })

  it('keeps no other sink from taking away, nor anybody from writing', async () => {
    const [sink, other] = [new BoardSink('boards'), new BoardSink('others')]
    otherRows.set('b', { board: 'z', text: 'there' })
    other.actual.set('x', ['of an earlier life'])
    other.marked = ['x']
    const { kernel } = startLate([sink, other])
    await settle(kernel)
    expect([sink.actual.get('z'), other.actual.get('z')]).toEqual([['prompt there'], ['prompt there']])
    expect(other.actual.get('x')).toEqual([])
  })
})

describe('a fragment for later', () => {
  it('is used when it has been wanted for so long, whatever it was meanwhile', async () => {
    const sink = new BoardSink('boards')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await settle(kernel)
    await put(kernel, 'a', { board: 'x', text: 'after 1000' })
    clock.advance(900)
    await put(kernel, 'a', { board: 'x', text: 'after 1000 too' })
    clock.advance(99)
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['one hello'])
    clock.advance(1)
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['after 1000 too'])
    // Now at once.
    await put(kernel, 'a', { board: 'x', text: 'after 1000 again' })
    expect(sink.actual.get('x')).toEqual(['after 1000 again'])
    expect([clock.pendingTimers, await metric('kube_ovn_drift_found_total')]).toEqual([0, 0])
  })

  it.each([undefined, 'now'])('is not used when another answer came between: %s', async (text) => {
    const sink = new BoardSink('boards')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await put(kernel, 'a', { board: 'x', text: 'after 1000' })
    clock.advance(900)
    await put(kernel, 'a', text === undefined ? undefined : { board: 'x', text })
    await put(kernel, 'a', { board: 'x', text: 'after 1000' })
    clock.advance(999)
    await settle(kernel)
    expect(sink.actual.get('x') ?? []).not.toContain('after 1000')
    clock.advance(1)
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['after 1000'])
  })

  it('is not told by a dry run, and takes nothing away after a start', async () => {
    const sink = new BoardSink('boards')
    sink.actual.set('x', ['one of an earlier life'])
    rows.set('a', { board: 'x', text: 'after 1000' })
    otherRows.set('b', { board: 'x', text: 'there' })
    const kernel = start([feature('one', sink.kind), feature('two', sink.kind, others)], [[sink]])
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['two there', 'one of an earlier life'])
    expect(await kernel.dryRun((fork) => fork.put(wishes, 'a', { board: 'x', text: 'after 9' }))).toEqual([])
    clock.advance(1000)
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['after 1000', 'two there'])
  })
})

describe('what an earlier agent left', () => {
  it('goes when it bears our mark and nobody wants it, once all features have spoken', async () => {
    const sink = new BoardSink('boards')
    for (const board of ['x', 'old', 'foreign']) sink.actual.set(board, ['one hello'])
    sink.marked = ['x', 'old']
    otherRows.set('b', { board: 'y', text: 'wait' })
    const kernel = start([feature('one', sink.kind), feature('two', sink.kind, others)], [[sink]])
    await settle(kernel)
    expect(sink.writes).toEqual([])
    await put(kernel, 'b', { board: 'y', text: 'there' }, others)
    await settle(kernel)
    expect(sink.writes.toSorted()).toEqual(['old', 'y'])
    expect([...sink.actual]).toEqual([
      ['x', ['one hello']],
      ['old', []],
      ['foreign', ['one hello']],
      ['y', ['two there']],
    ])
    expect(await metric('kube_ovn_drift_found_total')).toBe(0)
  })

  it('stays where it may be wanted, and goes elsewhere, while a feature has told nothing but what it is about', async () => {
    const sink = new BoardSink('boards')
    for (const board of ['y', 'old']) sink.actual.set(board, ['two before'])
    sink.marked = ['y', 'old']
    rows.clear()
    otherRows.set('b', { board: 'y', text: 'own problem' })
    const kernel = start([feature('two', sink.kind, others)], [[sink]])
    await settle(kernel)
    expect([...sink.actual]).toEqual([
      ['y', ['two before']],
      ['old', []],
    ])
    await put(kernel, 'b', undefined, others)
    await settle(kernel)
    expect(sink.actual.get('y')).toEqual([])
  })

  it('goes as soon as it can be told what it is', async () => {
    const sink = new BoardSink('boards')
    sink.actual.set('old', ['one hello'])
    sink.marked = ['old']
    let failures = 1
    sink.owned = () => {
      if (failures-- > 0) throw new TypeError('the board is away')
      return BoardSink.prototype.owned.call(sink)
    }
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await kernel.quiet()
    expect(sink.actual.get('old')).toEqual(['one hello'])
    clock.advance(200)
    await settle(kernel)
    expect(sink.actual.get('old')).toEqual([])
  })
})

describe('a sink', () => {
  it('that fails is asked again, once for all that happens meanwhile', async () => {
    const sink = new BoardSink('boards')
    sink.failure = new TypeError('the board is away')
    const kernel = start([feature('one', sink.kind)], [[sink]])
    await kernel.quiet()
    expect(sink.writes).toEqual([])
    sink.failure = undefined
    clock.advance(200)
    await settle(kernel)
    expect(sink.actual.get('x')).toEqual(['one hello'])
    expect(clock.pendingTimers).toBe(0)
    expect(await metric('workqueue_retries_total')).toBe(1)
  })

  it('is asked in its order, and waited for only by those of its list', async () => {
    const order: string[] = []
    const [first, second, apart] = ['first', 'second', 'apart'].map((name) => new BoardSink(name))
    if (first === undefined || second === undefined || apart === undefined) return
    for (const sink of [first, second, apart]) {
      const { writes } = sink
      writes.push = (...targets) => order.push(...targets.map(() => sink.kind.name))
    }
    const opened = Promise.withResolvers<void>()
    first.gate = opened.promise
    const features = [second, apart, first].map(({ kind }) => feature(`for-${kind.name}`, kind))
    const kernel = start(features, [[first, second], [apart]])
    await turns()
    expect(order).toEqual(['apart'])
    opened.resolve()
    await settle(kernel)
    expect(order).toEqual(['apart', 'first', 'second'])
  })
})

it('tells beforehand what a change would lead to, and does nothing', async () => {
  const sink = new BoardSink('boards')
  const kernel = start([feature('one', sink.kind)], [[sink]])
  await settle(kernel)
  expect(await kernel.dryRun()).toEqual([])
  const changes = await kernel.dryRun((fork) => {
    fork.put(wishes, 'a', { board: 'x', text: 'bye' })
    fork.put(wishes, 'b', { board: 'y', text: 'there' })
  })
  expect(changes).toEqual([
    { sink: 'boards', target: 'x', changes: ['x: one bye'] },
    { sink: 'boards', target: 'y', changes: ['y: one there'] },
  ])
  await settle(kernel)
  expect([...sink.actual]).toEqual([['x', ['one hello']]])
  await put(kernel, 'a', { board: 'x', text: 'bye' })
  expect(sink.actual.get('x')).toEqual(['one bye'])
})
