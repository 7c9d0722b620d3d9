import { setTimeout as delay } from 'node:timers/promises'
import { ovnSouthboundSchema, type OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { named, OvsdbClient, type Operation } from 'ovsdb-client'
import { LabTimeoutError } from '../errors.ts'

/** A chassis to be. */
export interface ChassisPlan {
  readonly name: string
  readonly encapIp: string
}

const tables = {
  Chassis: { columns: ['name', 'encaps', 'other_config'], indexes: ['name'] },
  Chassis_Private: { columns: ['name', 'nb_cfg'], indexes: ['name'] },
  Port_Binding: { columns: ['logical_port', 'chassis', 'up'], indexes: ['logical_port'] },
  SB_Global: { columns: ['nb_cfg'] },
} as const

/** Ports or chassis to a transaction; ovsdb-server does others' work in between. */
const batchSize = 200

/** After a transaction that failed, whatever it was. */
const retryMs = 1_000

/**
 * What the ovn-controllers of many chassis write: their chassis, which ports are there and up, and that they have seen the newest
 * configuration. It reads no flows and forwards nothing.
 *
 * Everything is level-triggered: a port binding that comes, comes back or changes is claimed whenever it is not as wanted.
 */
export class FakeChassis implements AsyncDisposable {
  readonly #southbound: OvsdbClient<OvnSouthbound>
  /** Logical port → name of the chassis that it is to be on. */
  readonly #wanted = new Map<string, string>()
  /** Ports to be looked at. */
  readonly #due = new Set<string>()
  readonly #own = new Set<string>()
  readonly #upListeners: ((port: string) => void)[] = []
  #isFlushing = false
  #isDisposed = false

  constructor(endpoints: readonly string[]) {
    this.#southbound = new OvsdbClient<OvnSouthbound>({
      endpoints,
      schema: ovnSouthboundSchema,
      tables,
      leaderOnly: true,
    })
    this.#southbound.onChange((changes) => {
      for (const change of changes) {
        if (change.table === 'Port_Binding') this.#look(change.new?.logical_port)
        if (change.table === 'SB_Global') this.#flushSoon()
      }
    })
    this.#southbound.onState(({ phase }) => {
      if (phase === 'connected') this.#flushSoon()
    })
  }

  async connect(): Promise<void> {
    await this.#southbound.connect(AbortSignal.timeout(30_000))
  }

  /**
   * Registers chassis, with the features of one that is real: northd writes other flows as soon as one chassis lacks a feature.
   *
   * @throws {LabTimeoutError} if there is no other chassis
   */
  async register(plans: readonly ChassisPlan[]): Promise<void> {
    for (const { name } of plans) this.#own.add(name)
    const real = [...this.#southbound.cache.scan('Chassis')].find(({ name }) => !this.#own.has(name))
    if (real === undefined)
      throw new LabTimeoutError('fake chassis need the features of a real one', {
        what: 'a chassis of a node in the Southbound',
        timeoutMs: 0,
        seen: 'none',
      })
    const missing = plans.filter(({ name }) => this.#chassis(name) === undefined)
    for (let start = 0; start < missing.length; start += batchSize)
      await this.#southbound.transact(
        missing
          .slice(start, start + batchSize)
          .flatMap((plan, index) => this.#registration(plan, index, real.other_config)),
      )
  }

  /** Wants a port on a chassis from now on. */
  claim(port: string, chassis: string): void {
    if (this.#wanted.get(port) === chassis) return
    this.#wanted.set(port, chassis)
    this.#look(port)
  }

  /** Wants a port no more. */
  release(port: string): void {
    if (this.#wanted.delete(port)) this.#look(port, true)
  }

  /** Whether a port is where it is wanted, and up. */
  isUp(port: string): boolean {
    const binding = this.#binding(port)
    const chassis = this.#chassis(this.#wanted.get(port) ?? '')
    return chassis !== undefined && binding?.chassis === chassis._uuid && binding.up === true
  }

  /** Calls `listener` with each port that has come up. */
  onUp(listener: (port: string) => void): void {
    this.#upListeners.push(listener)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    return this.#southbound[Symbol.asyncDispose]()
  }

  #look(port: string | undefined, wasReleased = false): void {
    if (port === undefined || (!wasReleased && !this.#wanted.has(port))) return
    this.#due.add(port)
    this.#flushSoon()
  }

  /** One transaction at a time, with whatever has become due meanwhile. */
  #flushSoon(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    while (!this.#isDisposed) {
      const ports = [...this.#due].slice(0, batchSize)
      for (const port of ports) this.#due.delete(port)
      const operations = [...this.#acknowledgement(), ...ports.flatMap((port) => this.#correction(port))]
      if (ports.length + operations.length === 0) break
      try {
        await this.#southbound.transact(operations)
      } catch (error) {
        for (const port of ports) this.#due.add(port)
        process.stderr.write(`Southbound: ${String(error)}\n`)
        await delay(retryMs)
        continue
      }
      for (const port of ports) if (this.isUp(port)) for (const listener of this.#upListeners) listener(port)
    }
    // In the same breath as it was seen that nothing is due: what becomes due from here on flushes again.
    this.#isFlushing = false
  }

  /** What a port binding lacks of what is wanted. One that is not there yet comes with a change. */
  #correction(port: string): readonly Operation[] {
    const binding = this.#binding(port)
    if (binding === undefined || this.isUp(port)) return []
    const wanted = this.#chassis(this.#wanted.get(port) ?? '')
    const { update } = this.#southbound.operations
    if (wanted !== undefined)
      return [update('Port_Binding', binding._uuid, { chassis: wanted._uuid, up: true })]
    const holder = this.#southbound.cache.get('Chassis', binding.chassis ?? '')
    if (holder === undefined || !this.#own.has(holder.name)) return []
    return [update('Port_Binding', binding._uuid, { chassis: undefined, up: false })]
  }

  /** Says for every chassis that it has seen the newest configuration, which `ovn-nbctl --wait=hv` waits for. */
  #acknowledgement(): readonly Operation[] {
    const { cache, operations } = this.#southbound
    const [global] = cache.scan('SB_Global')
    if (global === undefined) return []
    return [...cache.scan('Chassis_Private')]
      .filter(({ name, nb_cfg: seen }) => this.#own.has(name) && seen !== global.nb_cfg)
      .map(({ _uuid }) =>
        operations.update('Chassis_Private', _uuid, {
          nb_cfg: global.nb_cfg,
          nb_cfg_timestamp: Date.now(),
        }),
      )
  }

  #registration(
    { name, encapIp }: ChassisPlan,
    index: number,
    features: OvnSouthbound['Chassis']['other_config'],
  ): readonly Operation[] {
    const { insert } = this.#southbound.operations
    const [encap, chassis] = [`encap${index}`, `chassis${index}`]
    return [
      insert('Encap', { type: 'geneve', ip: encapIp, chassis_name: name, options: { csum: 'true' } }, encap),
      insert('Chassis', { name, hostname: name, encaps: [named(encap)], other_config: features }, chassis),
      insert('Chassis_Private', { name, chassis: named(chassis) }),
    ]
  }

  #chassis(name: string): OvnSouthbound['Chassis'] | undefined {
    return this.#southbound.cache.find('Chassis', 'name', name)[0]
  }

  #binding(port: string): OvnSouthbound['Port_Binding'] | undefined {
    return this.#southbound.cache.find('Port_Binding', 'logical_port', port)[0]
  }
}
