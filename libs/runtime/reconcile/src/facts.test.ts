import type { KubeObject, Resource } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { describe, expect, it } from 'vitest'
import { DerivedTables } from './derived-tables.ts'
import { fact } from './facts.ts'
import { nothing, type Feature } from './feature.ts'
import { Kernel } from './kernel.ts'
import { LocalObjects } from './local-objects.ts'
import { schema } from './plan-fixture.ts'
import { databaseTable, factTable, objectTable } from './source-tables.ts'
import { SimulatedServer } from './testing/simulated-server.ts'

const widgets: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
}

const widgetObjects = objectTable({ resource: widgets })
const seats = factTable({ name: 'seats', indexes: { seat: (seat: string) => [seat] } })
const switches = databaseTable('Logical_Switch', 'name')

/** The widgets that have a seat for which there is a switch. */
const seated = rowTable({
  name: 'seated',
  of: widgetObjects,
  reads: { seats, switches },
  row: (_widget, views, name) => {
    const seat = views.seats.get(name)
    return seat === undefined || views.switches.find('name', seat).length === 0 ? undefined : seat
  },
})

interface World {
  readonly seats: ViewOf<typeof seats>
  /** Who sits where; it follows the table. */
  readonly plan: Map<string, string>
}

function follow(keys: Iterable<string>, row: (key: string) => string | undefined, plan: World['plan']): void {
  for (const key of keys) {
    const seat = row(key)
    if (seat === undefined) plan.delete(key)
    else plan.set(key, seat)
  }
}

/** A widget takes the seat that its label names, if nobody else has it, and keeps it. */
function seating(observed: string[]): Feature<string, string, World> {
  return {
    name: 'seating',
    kinds: [],
    triggers: [{ on: 'object', resource: widgets, keys: ({ key }) => [key] }],
    observe(key, world) {
      observed.push(key)
      const label = fixtureLabels.get(key)
      if (label === undefined) return undefined
      const isFree = world.seats.keys('seat', label).every((holder) => holder === key)
      return isFree ? label : (world.seats.get(key) ?? '')
    },
    desired: (key, seat) =>
      seat === undefined || seat === '' ? nothing : { ...nothing, facts: [fact(seats, key, seat)] },
  }
}

/** What the widgets ask for, by name. */
const fixtureLabels = new Map<string, string>()

class Fixture {
  readonly server = new SimulatedServer()
  readonly objects = new LocalObjects([widgets])
  readonly observed: string[] = []
  readonly plan: World['plan'] = new Map()
  /** Of each world that was made for a plan. */
  readonly forkedPlans: World['plan'][] = []
  readonly kernel: Kernel<World>

  constructor() {
    fixtureLabels.clear()
    const clock = new ManualClock()
    const client = this.server.open({ onTransact: () => 'fine', onCommitted: () => 'fine' })
    const derived = new DerivedTables({
      tables: [seats, seated],
      store: (resource) => this.objects.store(resource),
      rows: client.cache,
      logger: silentLogger,
      monotonic: () => clock.monotonic(),
    })
    derived.follow(seated, (keys) => follow(keys, (key) => derived.view(seated).get(key), this.plan))
    this.kernel = new Kernel<World>({
      features: [seating(this.observed)],
      world: { seats: derived.view(seats), plan: this.plan },
      forkWorld: (_world, fork) => {
        const plan = new Map(this.plan)
        this.forkedPlans.push(plan)
        fork.follow(seated, (keys) => follow(keys, (key) => fork.view(seated).get(key), plan))
        return { seats: fork.view(seats), plan }
      },
      database: client,
      schema,
      objects: this.objects,
      derived,
      clock,
      logger: silentLogger,
      metrics: kernelMetrics(new Registry()),
    })
  }

  async put(name: string, label: string | undefined): Promise<readonly string[]> {
    if (label === undefined) fixtureLabels.delete(name)
    else fixtureLabels.set(name, label)
    this.objects.put(widgets, name, label === undefined ? undefined : widget(name, label))
    await this.kernel.quiet()
    return this.observed.splice(0)
  }

  async addSwitch(name: string): Promise<void> {
    this.server.apply([{ do: 'insert', table: 'Logical_Switch', name, columns: { name } }])
    await this.kernel.quiet()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel[Symbol.asyncDispose]()
  }
}

function widget(name: string, label: string): KubeObject {
  return { metadata: { name, uid: name, labels: { label } } }
}

describe('What keys have decided', () => {
  it('is there for others, and whoever has read it is woken when it goes', async () => {
    await using fixture = new Fixture()
    fixture.kernel.start()
    await fixture.addSwitch('front')
    await fixture.put('a', 'front')
    await fixture.put('b', 'front')
    expect([...fixture.plan]).toEqual([['a', 'front']])
    expect(await fixture.put('a', undefined)).toContain('b')
    expect([...fixture.plan]).toEqual([['b', 'front']])
    expect(fixture.kernel.recomputeAll().decisions.size).toBe(0)
  })

  it('is followed with what is derived from it, of rows found by an index of the database, too', async () => {
    await using fixture = new Fixture()
    fixture.kernel.start()
    await fixture.put('a', 'front')
    expect([...fixture.plan]).toEqual([])
    await fixture.addSwitch('front')
    expect([...fixture.plan]).toEqual([['a', 'front']])
    await fixture.put('a', 'back')
    expect([...fixture.plan]).toEqual([])
  })

  it('is planned in a copy, with all that follows, and leaves no trace', async () => {
    await using fixture = new Fixture()
    fixture.kernel.start()
    await fixture.addSwitch('front')
    await fixture.put('a', 'front')
    await fixture.put('b', 'front')
    fixtureLabels.delete('a')
    const { decisions } = fixture.kernel.planChanges([{ resource: widgets, remove: { name: 'a' } }])
    expect([...decisions].sort()).toEqual(['seating/a', 'seating/b'])
    expect([...(fixture.forkedPlans.at(-1) ?? [])]).toEqual([['b', 'front']])
    expect([...fixture.plan]).toEqual([['a', 'front']])
    fixtureLabels.set('a', 'front')
    expect(fixture.kernel.recomputeAll().decisions.size).toBe(0)
  })

  it('is found when a recomputation comes to another decision', async () => {
    await using fixture = new Fixture()
    fixture.kernel.start()
    await fixture.put('a', 'front')
    // Nobody tells the kernel.
    fixtureLabels.set('a', 'back')
    expect([...fixture.kernel.recomputeAll().decisions]).toEqual(['seating/a'])
  })
})
