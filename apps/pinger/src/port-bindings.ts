import { existsSync } from 'node:fs'
import {
  ovnSouthboundSchema,
  openVswitchSchema,
  type OpenVswitch,
  type OvnSouthbound,
} from '@kube-ovn/ovsdb-schema'
import { OvsdbClient, WaitTimedOutError, type Tables, type TlsFiles } from 'ovsdb-client'
import { reasonOf, type Outcome } from './outcome.ts'

/** Where the chart mounts the certificate. */
const tls: TlsFiles = {
  privateKeyFile: '/var/run/tls/key',
  certificateFile: '/var/run/tls/cert',
  caFile: '/var/run/tls/cacert',
}

/** A client of the database of Open vSwitch that keeps no rows. */
export function openVswitchAt(endpoint: string, timeoutMs: number): OvsdbClient<OpenVswitch> {
  return new OvsdbClient<OpenVswitch>({
    endpoints: [endpoint],
    schema: openVswitchSchema,
    tables: {},
    transactTimeoutMs: timeoutMs,
    inactivityProbeMs: timeoutMs,
  })
}

/**
 * Waits for a connection, for a limited time.
 *
 * @throws why there is none as far as that is known, e.g. that the socket may not be opened: that time has passed tells nobody what to do
 */
export async function connectWithin<T extends Tables>(
  client: OvsdbClient<T>,
  timeoutMs: number,
): Promise<void> {
  try {
    await client.connect(AbortSignal.timeout(timeoutMs))
  } catch (error) {
    const { state } = client
    throw ('cause' in state ? state.cause : undefined) ?? error
  }
}

export interface PortBindingOptions {
  /** The database of Open vSwitch. */
  readonly local: OvsdbClient<OpenVswitch>
  readonly timeoutMs: number
  /** How long an answer of the Southbound is good for: a round before that goes by the same one. */
  readonly goodForMs: number
  /** How long ovn-controller may take to bind an interface: one of a pod that has just come is not odd. */
  readonly settleMs: number
}

/** Where more than these are not bound, that is not because pods come. */
const mostAwaited = 16

/** What the Southbound binds to a chassis. */
interface BoundPorts {
  readonly atMs: number
  readonly chassis: string
  readonly bound: ReadonlySet<string>
}

/**
 * Compares the interfaces of this node's Open vSwitch with what the Southbound binds to it.
 *
 * The Southbound is asked where ovn-controller has it from: the local database says so. Its rows are selected now and then, and not
 * monitored: a monitor for each node would cost it more than all questions.
 */
export class PortBindings implements AsyncDisposable {
  readonly #options: PortBindingOptions
  #southbound: { readonly remote: string; readonly client: OvsdbClient<OvnSouthbound> } | undefined
  #last: BoundPorts | undefined

  constructor(options: PortBindingOptions) {
    this.#options = options
  }

  /** Never rejects: what cannot be found out is unknown, and why. */
  async check(): Promise<Outcome> {
    try {
      const { interfaces, systemId, remote } = await this.#readLocal()
      if (systemId === undefined || remote === undefined)
        return {
          kind: 'bindings',
          missing: undefined,
          reason: 'Open vSwitch names no system-id or no ovn-remote',
        }
      const { bound } = await this.#boundTo(systemId, remote, false)
      let missing: readonly string[] = interfaces.filter((port) => !bound.has(port))
      // One that is newer than the last answer is not odd.
      if (missing.length > 0) missing = await this.#stillMissing(missing, systemId, remote)
      if (missing.length > 0 && missing.length <= mostAwaited) {
        await this.#untilBound(missing)
        missing = await this.#stillMissing((await this.#readLocal()).interfaces, systemId, remote)
      }
      return { kind: 'bindings', missing }
    } catch (error) {
      return { kind: 'bindings', missing: undefined, reason: reasonOf(error) }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#southbound?.client[Symbol.asyncDispose]()
  }

  async #readLocal() {
    const { local, timeoutMs } = this.#options
    const { select, selected } = local.operations
    await connectWithin(local, timeoutMs)
    const [root, ports] = await local.transact([
      select('Open_vSwitch', [], ['external_ids']),
      select('Interface', [], ['external_ids']),
    ])
    const [settings] = root === undefined ? [] : selected('Open_vSwitch', root)
    const rows = ports === undefined ? [] : selected('Interface', ports)
    return {
      interfaces: rows
        .map((row) => row.external_ids['iface-id'] ?? '')
        .filter((id) => id !== '')
        .toSorted(),
      systemId: settings?.external_ids['system-id'],
      remote: settings?.external_ids['ovn-remote'],
    }
  }

  async #stillMissing(
    ports: readonly string[],
    systemId: string,
    remote: string,
  ): Promise<readonly string[]> {
    const { bound } = await this.#boundTo(systemId, remote, true)
    return ports.filter((port) => !bound.has(port))
  }

  /** Waits until the Southbound binds ports, for a limited time. */
  async #untilBound(ports: readonly string[]): Promise<void> {
    const [client, chassis] = [this.#southbound?.client, this.#last?.chassis]
    if (client === undefined || chassis === undefined) return
    const { wait } = client.operations
    const { settleMs } = this.#options
    await client
      .transact(
        ports.map((port) =>
          wait('Port_Binding', [['logical_port', '==', port]], '==', [{ chassis }], settleMs),
        ),
      )
      .catch((error: unknown) => {
        if (!(error instanceof WaitTimedOutError)) throw error
      })
  }

  /** Names of the logical ports that the Southbound binds to a chassis. */
  async #boundTo(systemId: string, remote: string, isFresh: boolean): Promise<BoundPorts> {
    const nowMs = performance.now()
    if (!isFresh && this.#last !== undefined && nowMs - this.#last.atMs < this.#options.goodForMs)
      return this.#last
    const client = await this.#southboundAt(remote)
    await connectWithin(client, this.#options.timeoutMs)
    const { select, selected } = client.operations
    const [found] = await client.transact([select('Chassis', [['name', '==', systemId]], ['_uuid'])])
    const [chassis] = found === undefined ? [] : selected('Chassis', found)
    if (chassis === undefined) throw new Error(`the Southbound has no chassis ${systemId}`)
    const [answer] = await client.transact([
      select('Port_Binding', [['chassis', '==', chassis._uuid]], ['logical_port']),
    ])
    const rows = answer === undefined ? [] : selected('Port_Binding', answer)
    const bound = new Set(rows.map(({ logical_port: port }) => port))
    return (this.#last = { atMs: nowMs, chassis: chassis._uuid, bound })
  }

  async #southboundAt(remote: string): Promise<OvsdbClient<OvnSouthbound>> {
    if (this.#southbound?.remote === remote) return this.#southbound.client
    await this.#southbound?.client[Symbol.asyncDispose]()
    const client = new OvsdbClient<OvnSouthbound>({
      endpoints: remote.split(','),
      schema: ovnSouthboundSchema,
      tables: {},
      transactTimeoutMs: this.#options.timeoutMs,
      inactivityProbeMs: this.#options.timeoutMs,
      ...(remote.includes('ssl:') && existsSync(tls.caFile) ? { tls } : {}),
    })
    this.#southbound = { remote, client }
    return client
  }
}
