import {
  askDaemon,
  controlSocketOf,
  DaemonRefusedError,
  parseCoverage,
  parseDatapaths,
  parseMemoryUsage,
  type Datapath,
} from '@kube-ovn/ovs'
import type { OpenVswitch } from '@kube-ovn/ovsdb-schema'
import {
  FileSizes,
  type InterfaceReading,
  type Sources,
  type VswitchReading,
  type VswitchSystem,
} from '@kube-ovn/telemetry'
import type { OvsdbClient } from 'ovsdb-client'
import { connectWithin } from './port-bindings.ts'

export interface VswitchOptions {
  /** Until Open vSwitch tells its own name. */
  readonly nodeName: string
  readonly local: OvsdbClient<OpenVswitch>
  readonly timeoutMs: number
  readonly sources: Sources
  /** Files of the daemons: with their process ids, and their logs. */
  readonly server: DaemonFiles
  readonly vswitchd: DaemonFiles
  readonly databaseFile: string
}

export interface DaemonFiles {
  readonly pid: string
  readonly log: string
}

type DaemonState = Omit<VswitchReading['daemons'][number], 'component'>

/** What tells of packets that were lost or that went the slow way; the other events are for who develops Open vSwitch. */
const toldEvents =
  /^(drop_|datapath_drop_|upcall_|handler_duplicate_upcall|rev_|revalidate_|dpif_(flow_(put|del|put_error)|execute|execute_error)$|xlate_actions$|bridge_reconfigure$|netlink_overflow$|dumped_duplicate_flow$)/

/**
 * What a node's Open vSwitch tells of itself: over its database and the control sockets of its daemons, never by a command.
 *
 * A scrape shows the last answers, and asks nobody.
 */
export class Vswitch {
  readonly #options: VswitchOptions
  readonly #sizes: FileSizes
  #reading: Omit<VswitchReading, 'failedRequests'>

  constructor(options: VswitchOptions) {
    this.#options = options
    const { server, vswitchd, databaseFile, sources, nodeName } = options
    this.#sizes = new FileSizes([server.log, vswitchd.log, databaseFile], sources)
    this.#reading = {
      ...{ hostname: nodeName, daemons: [], logs: [], coverage: new Map() },
      ...{ databaseBytes: undefined, system: undefined, datapaths: undefined, interfaces: undefined },
    }
  }

  get reading(): VswitchReading {
    return { ...this.#reading, failedRequests: this.#options.sources.failures }
  }

  /** Asks once, in a limited time. It never rejects: who does not answer has no series. */
  async look(): Promise<void> {
    // A disk that hangs is not waited for: its sizes are shown when they are known.
    this.#sizes.look().catch(() => undefined)
    const { sources } = this.#options
    const [server, vswitchd, database] = await Promise.all([
      sources.ask('ovsdb-server-control', () => this.#askServer()),
      sources.ask('ovs-vswitchd-control', () => this.#askVswitchd()),
      sources.ask('open-vswitch', () => this.#readDatabase()),
    ])
    const { server: serverFiles, vswitchd: vswitchdFiles, databaseFile, nodeName } = this.#options
    const down: DaemonState = { isUp: false, memory: new Map() }
    this.#reading = {
      hostname: database?.system?.hostname || nodeName,
      daemons: [
        { component: 'ovsdb-server', ...(server ?? down) },
        { component: 'ovs-vswitchd', ...(vswitchd?.state ?? down) },
      ],
      logs: [
        { component: 'ovsdb-server', file: serverFiles.log },
        { component: 'ovs-vswitchd', file: vswitchdFiles.log },
      ].flatMap((log) => {
        const bytes = this.#sizes.sizes.get(log.file)
        return bytes === undefined ? [] : [{ ...log, bytes }]
      }),
      databaseBytes: this.#sizes.sizes.get(databaseFile),
      system: database?.system,
      interfaces: database?.interfaces,
      datapaths: vswitchd?.datapaths,
      coverage: vswitchd?.coverage ?? new Map(),
    }
  }

  async #askServer(): Promise<DaemonState> {
    const ask = await this.#questions(this.#options.server)
    const [, memory] = await Promise.all([ask('version'), ask('memory/show')])
    return { isUp: true, memory: parseMemoryUsage(memory) }
  }

  async #askVswitchd(): Promise<{
    readonly state: DaemonState
    readonly datapaths: readonly Datapath[] | undefined
    readonly coverage: ReadonlyMap<string, number>
  }> {
    const ask = await this.#questions(this.#options.vswitchd)
    const [memory, shown, coverage] = await Promise.all([
      ask('memory/show'),
      ask('dpctl/show').catch(unlessRefused),
      ask('coverage/show').catch(unlessRefused),
    ])
    return {
      state: { isUp: true, memory: parseMemoryUsage(memory) },
      datapaths: shown === undefined ? undefined : parseDatapaths(shown),
      coverage: new Map([...parseCoverage(coverage ?? '')].filter(([event]) => toldEvents.test(event))),
    }
  }

  async #questions({ pid }: DaemonFiles): Promise<(method: string) => Promise<string>> {
    const path = await controlSocketOf(pid)
    return (method) => askDaemon({ path, method, timeoutMs: this.#options.timeoutMs })
  }

  async #readDatabase(): Promise<{
    readonly system: VswitchSystem | undefined
    readonly interfaces: readonly InterfaceReading[]
  }> {
    const { local, timeoutMs } = this.#options
    await connectWithin(local, timeoutMs)
    const { select, selected } = local.operations
    const [root, ports] = await local.transact([
      select(
        'Open_vSwitch',
        [],
        ['external_ids', 'system_type', 'system_version', 'ovs_version', 'db_version'],
      ),
      select(
        'Interface',
        [],
        [
          ...([
            '_uuid',
            'name',
            'admin_state',
            'link_state',
            'mac_in_use',
            'mtu',
            'ofport',
            'ifindex',
          ] as const),
          ...(['external_ids', 'statistics'] as const),
        ],
      ),
    ])
    const [row] = root === undefined ? [] : selected('Open_vSwitch', root)
    return {
      system: row && {
        systemId: row.external_ids['system-id'] ?? '',
        rundir: row.external_ids['rundir'] ?? '',
        hostname: row.external_ids['hostname'] ?? '',
        systemType: row.system_type ?? '',
        systemVersion: row.system_version ?? '',
        ovsVersion: row.ovs_version ?? '',
        databaseVersion: row.db_version ?? '',
      },
      interfaces: (ports === undefined ? [] : selected('Interface', ports)).map((port) => ({
        uuid: port._uuid,
        name: port.name,
        adminState: port.admin_state,
        linkState: port.link_state,
        mac: port.mac_in_use,
        mtu: port.mtu,
        ofPort: port.ofport,
        ifIndex: port.ifindex,
        pod: {
          name: port.external_ids['pod_name'] ?? '',
          namespace: port.external_ids['pod_namespace'] ?? '',
        },
        statistics: port.statistics,
      })),
    }
  }
}

/** Who refuses a question, such as while one of its data paths goes, is there. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof DaemonRefusedError)) throw error
}
