import { recordingLogger } from '@kube-ovn/log'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { startProxy, type Northbound, type Proxy } from '@kube-ovn/testing-ovsdb'
import { ManualClock } from '@kube-ovn/time'
import { OvsdbClient, TransactionError, type Tables } from 'ovsdb-client'
import { catalogOf, selectionOf } from '../catalog.ts'
import type { Database } from '../database.ts'
import { encodeSteps } from '../encode.ts'
import { Kernel } from '../kernel.ts'
import { LocalObjects } from '../local-objects.ts'
import { Signals } from '../signals.ts'
import type { Step } from '../steps.ts'
import { shuffled } from './player.ts'
import type { Act, Point, Script } from './script.ts'
import { ForeignFinalizers } from './foreign-finalizers.ts'
import { SimulatedObjects } from './simulated-objects.ts'
import type { Fate } from './simulated-server.ts'
import { featuresOf, keysOf, widgets, type SimulatedWorld, type State } from './state.ts'
import { actAsStranger, remake, foreignRows } from './stranger.ts'

const backoff = { initialMs: 5, maxMs: 20, factor: 2, jitter: 0 } as const

/** Plays a script on a real server, behind a proxy that cuts. */
export class RealPlayer implements AsyncDisposable {
  readonly objects = new LocalObjects([widgets])
  readonly finalizers = new ForeignFinalizers(this.objects)
  readonly clock = new ManualClock()
  readonly logger = recordingLogger()
  readonly world: SimulatedWorld
  readonly #northbound: Northbound
  readonly #proxy: Proxy
  readonly #observer: OvsdbClient
  readonly #script: Pick<Script, 'layout' | 'order' | 'interruptions'>
  readonly #played: Record<Point, number> = { transact: 0, committed: 0, patch: 0, patched: 0 }
  readonly #strangerActs = new Set<Promise<unknown>>()
  readonly #dead = new WeakSet<Process>()
  #process: Promise<Process>
  #isQuiet = false

  private constructor(
    northbound: Northbound,
    proxy: Proxy,
    observer: OvsdbClient,
    script: RealPlayer['script'],
    first: State,
  ) {
    this.#northbound = northbound
    this.#proxy = proxy
    this.#observer = observer
    this.#script = script
    this.world = { state: first, layout: script.layout, objects: undefined }
    this.#process = this.#start()
  }

  /** On an empty database. */
  static async start(
    northbound: Northbound,
    script: RealPlayer['script'],
    first: State,
  ): Promise<RealPlayer> {
    const proxy = await startProxy(northbound.address)
    const observer = openClient(northbound.address, script)
    await observer.connect()
    await observer.transact(encodeSteps(ovnNorthboundSchema, foreignRows, undefined))
    return new RealPlayer(northbound, proxy, observer, script, first)
  }

  get script(): Pick<Script, 'layout' | 'order' | 'interruptions'> {
    return this.#script
  }

  /** The database as somebody sees it who is never cut off. */
  get rows() {
    return this.#observer.cache
  }

  async kernel(): Promise<Kernel<SimulatedWorld>> {
    return (await this.#process).kernel
  }

  async play(act: Act): Promise<void> {
    await this.#process
    this.#perform(act, await this.#process)
    await this.#work()
  }

  /** From here on nothing disturbs: works until nothing is left to do. */
  async rest(last: State): Promise<void> {
    this.#isQuiet = true
    const process = await this.#process
    process.objects.catchUp()
    this.#change(last, process)
    for (let calm = 0; calm < 3;) {
      const before = await this.#northbound.transactions()
      await this.#work()
      this.clock.advance(100_000)
      await this.#work()
      calm = before === (await this.#northbound.transactions()) ? calm + 1 : 0
    }
    // The server tells the observer of everything before it answers him.
    await this.#observer.transact([{ op: 'select', table: 'NB_Global', where: [], columns: [] }])
  }

  async restart(): Promise<void> {
    this.#process = this.#replace(await this.#process)
    await this.#process
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(await this.#process)
    await this.#observer[Symbol.asyncDispose]()
    await this.#proxy[Symbol.asyncDispose]()
  }

  async #replace(dead: Process): Promise<Process> {
    this.#dead.add(dead)
    await end(dead)
    return this.#start()
  }

  async #start(): Promise<Process> {
    const { layout, order } = this.#script
    const client = openClient(this.#proxy.address, this.#script)
    this.#proxy.mend()
    {
      // The process before may be about to cut it once more.
      using _ = client.onState(() => this.#proxy.mend())
      await client.connect()
    }
    const signals = new Signals()
    const process: Process = {
      client,
      signals,
      objects: new SimulatedObjects(this.objects, {
        onPatch: () => this.#interrupt('patch', process),
        onPatched: () => this.#interrupt('patched', process),
      }),
      get kernel() {
        return kernel
      },
    }
    this.world.objects = process.objects
    const kernel = new Kernel<SimulatedWorld>({
      features: shuffled(featuresOf(layout), order),
      world: this.world,
      database: this.#interrupted(client, () => process),
      schema: ovnNorthboundSchema,
      objects: process.objects,
      signals,
      clock: this.clock,
      logger: this.logger,
      metrics: kernelMetrics(new Registry()),
      random: () => 0.5,
      batchSize: 1 + (order % 8),
    })
    kernel.start()
    return process
  }

  /** What happens before a transaction is sent, and while it is under way. */
  #interrupted(client: OvsdbClient, process: () => Process): Database {
    return {
      cache: client.cache,
      get state() {
        return client.state
      },
      onState: (listener) => client.onState(listener),
      onChange: (listener) => client.onChange(listener),
      transact: async (operations) => {
        this.#interrupt('transact', process())
        const answer = client.transact(operations)
        // Whether the server has it by now is anybody's guess.
        if (this.#interrupt('committed', process()) !== 'fine') this.#proxy.cut()
        return answer
      },
    }
  }

  #interrupt(point: Point, process: Process): Fate {
    if (this.#isQuiet) return 'fine'
    const act = this.#script.interruptions[point][this.#played[point]++]
    return act === undefined ? 'fine' : this.#perform(act, process)
  }

  #perform(act: Act, process: Process): Fate {
    switch (act.do) {
      case 'nothing':
        return 'fine'
      case 'world':
        this.#change(act.state, process)
        return 'fine'
      case 'stranger':
        actAsStranger({ rows: this.rows, apply: (steps) => this.#apply(steps) }, act, this.#foreign())
        return 'fine'
      case 'finalizer':
        this.finalizers.add(act.draw)
        return 'fine'
      case 'stall':
        process.objects.stall()
        return 'fine'
      case 'catch up':
        process.objects.catchUp()
        return 'fine'
      case 'remake':
        this.#proxy.cut()
        remake({ rows: this.rows, apply: (steps) => this.#apply(steps) }, this.#foreign())
        return 'disconnect'
      case 'crash':
        // What it had under way may end after it; nobody dies twice.
        if (!this.#dead.has(process)) this.#process = this.#replace(process)
        return 'disconnect'
      default:
        this.#proxy.cut()
        return act.do
    }
  }

  /** What the server refuses a stranger has no consequences. */
  #apply(steps: readonly Step[]): void {
    const done = this.#observer
      .transact(encodeSteps(ovnNorthboundSchema, steps, undefined))
      .catch((error: unknown) => {
        if (!(error instanceof TransactionError)) throw error
      })
      .finally(() => this.#strangerActs.delete(done))
    this.#strangerActs.add(done)
  }

  #foreign(): ReadonlySet<string> {
    return new Set(foreignOf(this.rows).map(({ _uuid }) => _uuid))
  }

  #change(state: State, { signals }: Process): void {
    const { layout, order } = this.#script
    const before = this.world.state
    this.world.state = state
    const keys = featuresOf(layout).flatMap(({ name }) => {
      const all = new Set([...keysOf(before, layout, name).keys(), ...keysOf(state, layout, name).keys()])
      return [...all].map((key) => ({ name, key }))
    })
    for (const { name, key } of shuffled(keys, order)) signals.raise(name, key)
  }

  /** Lets the kernel work until it waits for time, or for nothing; connections are possible again. */
  async #work(): Promise<void> {
    for (;;) {
      const current = this.#process
      const { client, kernel } = await current
      this.#proxy.mend()
      await Promise.all(this.#strangerActs)
      // A client that was closed does not connect: another process takes over.
      const quiet = client
        .connect()
        .then(() => kernel.quiet())
        .catch(() => undefined)
      await Promise.race([quiet, ended(client)])
      if (current === this.#process && client.state.phase === 'connected') return
    }
  }
}

interface Process {
  readonly client: OvsdbClient
  readonly objects: SimulatedObjects
  readonly signals: Signals
  readonly kernel: Kernel<SimulatedWorld>
}

async function end({ client, objects, kernel }: Process): Promise<void> {
  objects[Symbol.dispose]()
  await Promise.all([kernel[Symbol.asyncDispose](), client[Symbol.asyncDispose]()])
}

function ended(client: OvsdbClient): Promise<void> {
  return new Promise((resolve) => {
    client.onState(({ phase }) => {
      if (phase !== 'connected') resolve()
    })
  })
}

function openClient(address: string, { layout }: Pick<Script, 'layout'>): OvsdbClient {
  const selection = selectionOf(catalogOf(ovnNorthboundSchema, featuresOf(layout)))
  const { Logical_Switch_Port: ports, ...others } = selection
  return new OvsdbClient<Tables>({
    endpoints: [address],
    schema: ovnNorthboundSchema,
    tables: {
      NB_Global: {},
      ...others,
      Logical_Switch_Port: { ...ports, indexes: [...(ports?.indexes ?? []), 'name'] },
    },
    backoff,
  })
}

/** Rows without the vendor's mark. */
export function foreignOf(rows: RealPlayer['rows']) {
  const tables = ['Logical_Switch', 'Logical_Switch_Port', 'Port_Group', 'Load_Balancer']
  return tables.flatMap((table) =>
    [...rows.scan(table)].filter((row) => !JSON.stringify(row).includes('"vendor":"kube-ovn"')),
  )
}
