import type { KubeObject, Resource } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { rowTable, sourceTable, TableDeclarationError } from '@kube-ovn/tables'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { describe, expect, it } from 'vitest'
import { DerivedTables } from './derived-tables.ts'
import { nothing, type Feature } from './feature.ts'
import { Kernel } from './kernel.ts'
import { LocalObjects } from './local-objects.ts'
import { schema } from './plan-fixture.ts'
import { databaseTable, objectTable } from './source-tables.ts'
import { SimulatedServer } from './testing/simulated-server.ts'

const widgets: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
}

const colors = rowTable({
  name: 'colors',
  of: objectTable({ resource: widgets }),
  row: ({ metadata }) => metadata.labels?.['color'],
  indexes: { color: (color: string) => [color] },
})

const switchNames = rowTable({
  name: 'switch-names',
  of: databaseTable('Logical_Switch'),
  row: ({ name }) => (name === '' ? undefined : name),
  indexes: { name: (name: string) => [name] },
})

interface World {
  readonly views: Pick<DerivedTables, 'view'>
}

/** Says in the label of a widget how many others have its color, and whether there is a switch of that name. */
function crowdFeature(observed: string[]): Feature<string, string, World> {
  return {
    name: 'crowd',
    kinds: [],
    triggers: [{ on: 'object', resource: widgets, keys: ({ key }) => [key] }],
    observe(key, { views }) {
      observed.push(key)
      const color = views.view(colors).get(key)
      if (color === undefined) return undefined
      const hasSwitch = views.view(switchNames).keys('name', color).length > 0
      return `${views.view(colors).keys('color', color).length}${hasSwitch ? ' on a switch' : ''}`
    },
    desired: (name, crowd) =>
      crowd === undefined
        ? nothing
        : { ...nothing, patches: [{ resource: widgets, name, merge: { metadata: { labels: { crowd } } } }] },
  }
}

function widget(name: string, color: string, noise = ''): KubeObject {
  return { metadata: { name, uid: name, labels: { color, noise } } }
}

class Fixture {
  readonly derived: DerivedTables
  readonly server = new SimulatedServer()
  readonly objects = new LocalObjects([widgets])
  readonly logger = recordingLogger()
  readonly observed: string[] = []
  readonly kernel: Kernel<World>

  constructor() {
    const clock = new ManualClock()
    const client = this.server.open({ onTransact: () => 'fine', onCommitted: () => 'fine' })
    let looks = 0
    const derived = (this.derived = new DerivedTables({
      tables: [colors, switchNames],
      store: (resource) => this.objects.store(resource),
      rows: client.cache,
      logger: this.logger,
      // Each look at the clock takes a millisecond, so that much to do takes several slices.
      monotonic: () => looks++,
    }))
    this.kernel = new Kernel<World>({
      features: [crowdFeature(this.observed)],
      world: { views: derived },
      forkWorld: (_world, fork) => ({ views: fork }),
      database: client,
      schema,
      objects: this.objects,
      derived,
      clock,
      logger: this.logger,
      metrics: kernelMetrics(new Registry()),
    })
  }

  put(name: string, object: KubeObject | undefined): void {
    this.objects.put(widgets, name, object)
  }

  crowdOf(name: string): string | undefined {
    return this.objects.store(widgets)?.get(name)?.metadata.labels?.['crowd']
  }

  /** Starts with `a`, which is red, and `b`, which is blue, and forgets that they were observed. */
  async startWithTwo(): Promise<void> {
    this.put('a', widget('a', 'red'))
    this.put('b', widget('b', 'blue'))
    this.kernel.start()
    await this.observedNow()
  }

  /** What was observed since this was last asked, once all is quiet. */
  async observedNow(): Promise<readonly string[]> {
    await this.kernel.quiet()
    return this.observed.splice(0).sort()
  }

  wokenBy(key: string): readonly unknown[] {
    return this.logger.lines
      .filter(({ message, fields }) => message === 'keys woken' && String(fields['keys']).includes(key))
      .map(({ fields }) => fields['by'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel[Symbol.asyncDispose]()
  }
}

describe('A kernel with derived tables', () => {
  it('wakes exactly who has read what changes, and says by what', async () => {
    await using fixture = new Fixture()
    await fixture.startWithTwo()
    expect([fixture.crowdOf('a'), fixture.crowdOf('b')]).toEqual(['1', '1'])
    fixture.put('c', widget('c', 'red'))
    // Who wrote is looked at once more, since the object has changed.
    expect(await fixture.observedNow()).toEqual(['a', 'a', 'c', 'c'])
    expect([fixture.crowdOf('a'), fixture.crowdOf('b'), fixture.crowdOf('c')]).toEqual(['2', '1', '2'])
    expect(fixture.wokenBy('crowd/a')).toContain('colors by color[red]')
    expect(fixture.wokenBy('crowd/b')).not.toContain('colors by color[red]')
    fixture.put('c', undefined)
    expect(await fixture.observedNow()).toEqual(['a', 'a', 'c'])
    expect(fixture.crowdOf('a')).toBe('1')
  })

  it('begins with what was prepared before, and with what has changed meanwhile', async () => {
    await using fixture = new Fixture()
    const { derived, objects } = fixture
    for (let count = 0; count < 1000; count++) fixture.put(`w${count}`, widget(`w${count}`, 'green'))
    fixture.put('a', widget('a', 'red'))
    {
      using _told = objects.onChange((resource, change) => derived.objectChanged(resource, change))
      const prepared = derived.prepare()
      fixture.put('b', widget('b', 'red'))
      fixture.put('w7', undefined)
      await prepared
      fixture.put('c', widget('c', 'red'))
    }
    expect(fixture.observed).toEqual([])
    fixture.kernel.start()
    await fixture.observedNow()
    expect(fixture.crowdOf('a')).toBe('3')
    expect(fixture.crowdOf('w1')).toBe('999')
  })

  it('follows rows of the database', async () => {
    await using fixture = new Fixture()
    await fixture.startWithTwo()
    fixture.server.apply([{ do: 'insert', table: 'Logical_Switch', name: 'new', columns: { name: 'red' } }])
    expect(await fixture.observedNow()).toEqual(['a', 'a'])
    expect(fixture.crowdOf('a')).toBe('1 on a switch')
  })

  it('takes an object that differs in its resource version alone for no change', async () => {
    await using fixture = new Fixture()
    fixture.put('a', widget('a', 'red'))
    fixture.kernel.start()
    await fixture.observedNow()
    const version = () => fixture.objects.store(widgets)?.get('a')?.metadata.resourceVersion
    const before = version()
    const object = fixture.objects.store(widgets)?.get('a')
    fixture.put('a', object)
    expect(version()).not.toBe(before)
    expect(await fixture.observedNow()).toEqual([])
    fixture.put('a', widget('a', 'red', 'noise'))
    expect(await fixture.observedNow()).not.toEqual([])
  })

  it('plans changes of objects in a copy of the tables', async () => {
    await using fixture = new Fixture()
    await fixture.startWithTwo()
    const { writes } = fixture.kernel.planChanges([{ resource: widgets, object: widget('b', 'red') }])
    expect(writes.map(({ owner, patch }) => `${owner} ${JSON.stringify(patch.merge)}`).sort()).toEqual([
      'crowd/a {"metadata":{"labels":{"crowd":"2"}}}',
      'crowd/b {"metadata":{"labels":{"crowd":"2"}}}',
    ])
    fixture.observed.splice(0)
    expect(fixture.kernel.recomputeAll().writes).toEqual([])
    fixture.observed.splice(0)
    expect(await fixture.observedNow()).toEqual([])
  })

  it('refuses a source that nobody watches', () => {
    const gadgets = objectTable({ resource: { ...widgets, plural: 'gadgets' } })
    const options = {
      rows: new SimulatedServer().rows,
      store: () => undefined,
      logger: recordingLogger(),
      monotonic: () => 0,
    }
    expect(() => new DerivedTables({ ...options, tables: [gadgets] })).toThrow(TableDeclarationError)
    expect(() => new DerivedTables({ ...options, tables: [sourceTable({ name: 'other' })] })).toThrow(
      TableDeclarationError,
    )
  })
})
