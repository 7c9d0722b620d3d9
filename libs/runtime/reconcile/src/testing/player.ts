import { recordingLogger } from '@kube-ovn/log'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { Kernel } from '../kernel.ts'
import { LocalObjects } from '../local-objects.ts'
import { schema } from '../plan-fixture.ts'
import { Signals } from '../signals.ts'
import { ForeignFinalizers } from './foreign-finalizers.ts'
import type { Act, Point, Script } from './script.ts'
import { SimulatedObjects } from './simulated-objects.ts'
import { SimulatedServer, turn, type Fate, type SimulatedClient } from './simulated-server.ts'
import { featuresOf, keysOf, widgets, type SimulatedWorld, type State } from './state.ts'
import { actAsStranger, foreignRows, remake } from './stranger.ts'

/** Longer than any back-off, and than the pause in a fight over a row. */
const longMs = 100_000

/** A kernel that is still at work after so many of these periods never ends. */
const periodLimit = 20

/** A kernel that takes more turns of the event loop than this goes round in circles. */
const turnLimit = 5000

/** Plays a script: a server and an API server that last, and processes that come and go. */
export class Player implements AsyncDisposable {
  readonly server = new SimulatedServer()
  readonly objects = new LocalObjects([widgets])
  readonly finalizers = new ForeignFinalizers(this.objects)
  readonly clock = new ManualClock()
  readonly logger = recordingLogger()
  readonly world: SimulatedWorld
  /** Rows of strangers, which must stay as they are. */
  readonly foreign: ReadonlySet<string>
  readonly #script: Pick<Script, 'layout' | 'order' | 'interruptions'>
  readonly #played: Record<Point, number> = { transact: 0, committed: 0, patch: 0, patched: 0 }
  #process: Process
  #isQuiet = false
  #mustRestart = false
  #activity = 0

  constructor(script: Pick<Script, 'layout' | 'order' | 'interruptions'>, first: State) {
    this.#script = script
    this.world = { state: first, layout: script.layout, objects: undefined }
    this.server.rows.insert('NB_Global', {})
    this.foreign = new Set(this.server.rows.apply(foreignRows).values())
    this.#process = this.#start()
  }

  get kernel(): Kernel<SimulatedWorld> {
    return this.#process.kernel
  }

  /** Plays an act, and lets the kernel work until it waits for time or a connection. */
  async play(act: Act): Promise<void> {
    this.#perform(act)
    await this.#work()
  }

  /** From here on nothing disturbs: works until nothing is left to do, whatever time that takes. */
  async rest(last: State): Promise<void> {
    this.#isQuiet = true
    this.#process.objects.catchUp()
    this.#change(last)
    for (let calm = 0, periods = 0; calm < 3; periods++) {
      if (periods > periodLimit) throw new Error('the kernel never has enough')
      const before = this.#activity
      await this.#work()
      this.clock.advance(longMs)
      await this.#work()
      calm = before === this.#activity ? calm + 1 : 0
    }
  }

  /** Ends the process and starts another one. */
  async restart(): Promise<void> {
    await this.#kill()
    this.#mustRestart = false
    this.#process = this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kernel[Symbol.asyncDispose]()
  }

  #start(): Process {
    const client = this.server.open({
      onTransact: () => this.#interrupt('transact'),
      onCommitted: () => this.#interrupt('committed'),
    })
    const objects = new SimulatedObjects(this.objects, {
      onPatch: () => this.#interrupt('patch'),
      onPatched: () => this.#interrupt('patched'),
    })
    this.world.objects = objects
    const signals = new Signals()
    const kernel = new Kernel<SimulatedWorld>({
      features: shuffled(featuresOf(this.#script.layout), this.#script.order),
      world: this.world,
      database: client,
      schema,
      objects,
      signals,
      clock: this.clock,
      logger: this.logger,
      metrics: kernelMetrics(new Registry()),
      random: () => 0.5,
      batchSize: 1 + (this.#script.order % 8),
    })
    kernel.start()
    return { client, objects, signals, kernel }
  }

  /** Lets the kernel work until it waits for time, or for nothing. */
  async #work(): Promise<void> {
    for (let turns = 0; turns < turnLimit;) {
      const rest = { isReached: false }
      void this.#process.kernel.quiet().then(() => (rest.isReached = true))
      for (; !rest.isReached && !this.#mustRestart && turns < turnLimit; turns++) {
        await turn()
        this.#process.client.reconnect()
      }
      if (rest.isReached && !this.#mustRestart) return
      if (this.#mustRestart) await this.restart()
    }
    throw new Error('the kernel does not come to rest')
  }

  /** A dead process does nothing any more, nor hears of anything. */
  #kill(): Promise<void> {
    const { client, objects, kernel } = this.#process
    client[Symbol.dispose]()
    objects[Symbol.dispose]()
    return kernel[Symbol.asyncDispose]()
  }

  #interrupt(point: Point): Fate {
    this.#activity++
    if (this.#isQuiet) return 'fine'
    const act = this.#script.interruptions[point][this.#played[point]++]
    return act === undefined ? 'fine' : this.#perform(act)
  }

  #perform(act: Act): Fate {
    const { client } = this.#process
    switch (act.do) {
      case 'nothing':
        return 'fine'
      case 'world':
        this.#change(act.state)
        return 'fine'
      case 'stranger':
        actAsStranger(this.server, act, this.foreign)
        return 'fine'
      case 'finalizer':
        this.finalizers.add(act.draw)
        return 'fine'
      case 'stall':
        this.#process.objects.stall()
        return 'fine'
      case 'catch up':
        this.#process.objects.catchUp()
        return 'fine'
      case 'remake':
        client.disconnect()
        remake(this.server, this.foreign)
        return 'disconnect'
      case 'crash':
        void this.#kill()
        this.#mustRestart = true
        return 'disconnect'
      default:
        client.disconnect()
        return act.do
    }
  }

  /** Changes what users ask for, and tells the process in some order. */
  #change(state: State): void {
    const { layout, order } = this.#script
    const before = this.world.state
    this.world.state = state
    const changed = featuresOf(layout).flatMap(({ name }) => {
      const [olds, news] = [keysOf(before, layout, name), keysOf(state, layout, name)]
      const keys = new Set([...olds.keys(), ...news.keys()])
      return [...keys]
        .filter((key) => JSON.stringify(olds.get(key)) !== JSON.stringify(news.get(key)))
        .map((key) => ({ name, key }))
    })
    for (const { name, key } of shuffled(changed, order)) this.#process.signals.raise(name, key)
  }
}

interface Process {
  readonly client: SimulatedClient
  readonly objects: SimulatedObjects
  readonly signals: Signals
  readonly kernel: Kernel<SimulatedWorld>
}

/** Brings items into an order that depends on `seed` only. */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const drawn = items.map((item, n) => ({ item, draw: ((n + 1) * (2 * seed + 1) * 7919) % 1009 }))
  return drawn.sort((a, b) => a.draw - b.draw).map(({ item }) => item)
}
