import type { Datapath } from '@kube-ovn/ovs'
import type { Registry } from 'prom-client'
import { oncePerTurn, ShownGauge, type Series } from './shown-gauge.ts'

/** What a scrape shows of a node's Open vSwitch. What could not be found out is `undefined` or not listed: it has no series then. */
export interface VswitchReading {
  /** Of the node, as Open vSwitch knows it. */
  readonly hostname: string
  readonly daemons: readonly {
    /** ovsdb-server, ovs-vswitchd. */
    readonly component: string
    readonly isUp: boolean
    readonly memory: ReadonlyMap<string, number>
  }[]
  readonly logs: readonly { readonly component: string; readonly file: string; readonly bytes: number }[]
  readonly databaseBytes: number | undefined
  readonly failedRequests: number
  readonly system: VswitchSystem | undefined
  readonly datapaths: readonly Datapath[] | undefined
  readonly interfaces: readonly InterfaceReading[] | undefined
  /** How often events happened in ovs-vswitchd, by name. */
  readonly coverage: ReadonlyMap<string, number>
}

/** What the row of the system says; empty where it says nothing. */
export interface VswitchSystem {
  readonly systemId: string
  readonly rundir: string
  readonly hostname: string
  readonly systemType: string
  readonly systemVersion: string
  readonly ovsVersion: string
  readonly databaseVersion: string
}

export interface InterfaceReading {
  readonly uuid: string
  readonly name: string
  readonly adminState: string | undefined
  readonly linkState: string | undefined
  readonly mac: string | undefined
  readonly mtu: number | undefined
  readonly ofPort: number | undefined
  readonly ifIndex: number | undefined
  /** Both empty for what is no pod's. */
  readonly pod: { readonly name: string; readonly namespace: string }
  readonly statistics: Readonly<Record<string, number>>
}

/** The end of upstream's name, the key of the column and what it counts. */
const interfaceStatistics = [
  ['tx_packets', 'tx_packets', 'Packets that were sent'],
  ['tx_bytes', 'tx_bytes', 'Bytes that were sent'],
  ['rx_packets', 'rx_packets', 'Packets that were received'],
  ['rx_bytes', 'rx_bytes', 'Bytes that were received'],
  ['rx_crc_err', 'rx_crc_err', 'Packets that were received with a wrong checksum of their frame'],
  ['rx_dropped', 'rx_dropped', 'Packets that were received and dropped'],
  ['rx_errors', 'rx_errors', 'Errors in receiving'],
  ['rx_frame_err', 'rx_frame_err', 'Packets that were received in a misaligned frame'],
  ['rx_missed_err', 'rx_missed_errors', 'Packets that the NIC had no room for'],
  ['rx_over_err', 'rx_over_err', 'Packets that overran the receiver'],
  ['tx_dropped', 'tx_dropped', 'Packets that were to be sent and dropped'],
  ['tx_errors', 'tx_errors', 'Errors in sending'],
  ['collisions', 'collisions', 'Collisions'],
  ['rx_multicast_packets', 'rx_multicast_packets', 'Multicast packets that were received'],
] as const

const states: Readonly<Record<string, number>> = { down: 0, up: 1 }
const otherState = 2

type Show = (reading: VswitchReading) => Iterable<Series>
type AddGauge = (name: string, help: string, labels: readonly string[], show: Show) => void

/**
 * Metrics of a node's Open vSwitch: names and labels are upstream's, also of the data paths, which it clears before anybody sees them. Ours
 * say "New.".
 *
 * @see https://kubeovn.github.io/docs/stable/en/reference/metrics/
 */
export function vswitchMetrics(registry: Registry, read: () => VswitchReading): void {
  const reading = oncePerTurn(read)
  function gauge(name: string, help: string, labels: readonly string[], show: Show): void {
    const configuration = {
      name: `kube_ovn_${name}`,
      help,
      labelNames: ['hostname', ...labels],
      registers: [registry],
    }
    new ShownGauge(configuration, () => {
      const { hostname } = reading()
      return Iterator.from(show(reading())).map(([own, value]): Series => [{ hostname, ...own }, value])
    })
  }
  daemonMetrics(gauge)
  datapathMetrics(gauge)
  interfaceMetrics(gauge)
}

function daemonMetrics(gauge: AddGauge): void {
  gauge('ovs_status', 'Health of Open vSwitch: (1) for healthy, (0) for not.', ['component'], ({ daemons }) =>
    daemons.map(({ component, isUp }) => [{ component }, Number(isUp)]),
  )
  gauge(
    'ovs_info',
    'The system that Open vSwitch runs on. This metric is always up (1).',
    ['system_id', 'rundir', 'system_type', 'system_version', 'ovs_version', 'db_version'],
    ({ system }) => {
      if (system === undefined) return []
      const { systemId, rundir, systemType, systemVersion, ovsVersion, databaseVersion } = system
      const labels = { system_id: systemId, rundir, system_type: systemType, system_version: systemVersion }
      return [[{ ...labels, ovs_version: ovsVersion, db_version: databaseVersion }, 1]]
    },
  )
  gauge('failed_req_count', 'The number of failed requests to Open vSwitch.', [], ({ failedRequests }) => [
    [{}, failedRequests],
  ])
  gauge(
    'log_file_size_bytes',
    'The size of a log file of a component of Open vSwitch. The unit is Bytes.',
    ['component', 'filename'],
    ({ logs }) => logs.map(({ component, file, bytes }) => [{ component, filename: file }, bytes]),
  )
  gauge(
    'db_file_size_bytes',
    'The size of the file of the database. The unit is Bytes.',
    ['db_name'],
    ({ databaseBytes }) => (databaseBytes === undefined ? [] : [[{ db_name: 'OVS_DB' }, databaseBytes]]),
  )
  gauge(
    'daemon_memory',
    'What a daemon says that it has in memory, by kind: atoms, cells, ports, rules, … New.',
    ['component', 'kind'],
    ({ daemons }) =>
      daemons.flatMap(({ component, memory }) =>
        Array.from(memory, ([kind, count]): Series => [{ component, kind }, count]),
      ),
  )
  gauge(
    'ovs_coverage_events',
    'How often something happened in ovs-vswitchd since its start: drops, upcalls, revalidations. New.',
    ['event'],
    ({ coverage }) => Array.from(coverage, ([event, count]): Series => [{ event }, count]),
  )
}

function datapathMetrics(gauge: AddGauge): void {
  gauge(
    'datapath',
    'A data path that exists. This metric is always up (1).',
    ['datapath', 'type'],
    ({ datapaths = [] }) => datapaths.map(({ name, type }) => [{ datapath: name, type }, 1]),
  )
  gauge('dp_total', 'The number of data paths.', [], ({ datapaths }) =>
    datapaths === undefined ? [] : [[{}, datapaths.length]],
  )
  gauge(
    'dp_if',
    'An interface of a data path. This metric is always up (1).',
    ['datapath', 'port', 'type', 'ofPort'],
    ({ datapaths = [] }) =>
      datapaths.flatMap(({ name: datapath, ports }) =>
        ports.map(({ name: port, type, number }): Series => [
          { datapath, port, type, ofPort: String(number) },
          1,
        ]),
      ),
  )
  const figure = (name: string, help: string, of: (datapath: Datapath) => number | undefined): void =>
    gauge(`dp_${name}`, help, ['datapath'], ({ datapaths = [] }) =>
      datapaths.flatMap((datapath): readonly Series[] => {
        const value = of(datapath)
        return value === undefined ? [] : [[{ datapath: datapath.name }, value]]
      }),
    )
  figure('if_total', 'The number of interfaces of a data path.', ({ ports }) => ports.length)
  figure('flows_total', 'The number of flows of a data path.', ({ flows }) => flows)
  figure(
    'flows_lookup_hit',
    'Packets that a flow of the data path was found for.',
    ({ lookups }) => lookups.hit,
  )
  figure(
    'flows_lookup_missed',
    'Packets that no flow was found for, and that ovs-vswitchd decided about.',
    ({ lookups }) => lookups.missed,
  )
  figure(
    'flows_lookup_lost',
    'Packets that no flow was found for, and that never reached ovs-vswitchd.',
    ({ lookups }) => lookups.lost,
  )
  figure('masks_hit', 'Masks that were tried in looking for flows.', ({ masks }) => masks.hit)
  figure('masks_total', 'The number of masks of a data path.', ({ masks }) => masks.total)
  figure('masks_hit_ratio', 'Masks that were tried for each packet.', ({ masks }) => masks.hitsPerPacket)
}

function interfaceMetrics(gauge: AddGauge): void {
  gauge(
    'interface',
    'An interface of Open vSwitch. This metric is always up (1).',
    ['uuid', 'interfaceName'],
    ({ interfaces = [] }) => interfaces.map(({ uuid, name }) => [{ uuid, interfaceName: name }, 1]),
  )
  const figure = (name: string, help: string, of: (one: InterfaceReading) => number | undefined): void =>
    gauge(`interface_${name}`, help, ['interfaceName'], ({ interfaces = [] }) =>
      interfaces.flatMap((one): readonly Series[] => {
        const value = of(one)
        return value === undefined ? [] : [[{ interfaceName: one.name }, value]]
      }),
    )
  figure('admin_state', 'What is wanted of an interface: (0) down, (1) up, (2) other.', ({ adminState }) =>
    stateOf(adminState),
  )
  figure(
    'link_state',
    'Whether the link of an interface is there: (0) down, (1) up, (2) other.',
    ({ linkState }) => stateOf(linkState),
  )
  gauge(
    'interface_mac_in_use',
    'The MAC address of an interface. This metric is always up (1).',
    ['interfaceName', 'mac_address'],
    ({ interfaces = [] }) =>
      interfaces.flatMap(({ name, mac }): readonly Series[] =>
        mac === undefined ? [] : [[{ interfaceName: name, mac_address: mac }, 1]],
      ),
  )
  figure('mtu', 'The MTU of an interface.', ({ mtu }) => mtu)
  figure('of_port', 'The number of an interface in OpenFlow.', ({ ofPort }) => ofPort)
  figure('if_index', 'The index of an interface in the kernel.', ({ ifIndex }) => ifIndex)
  for (const [name, key, help] of interfaceStatistics)
    gauge(
      `interface_${name}`,
      `${help}, since the interface is there.`,
      ['interfaceName', 'pod_name', 'pod_namespace'],
      ({ interfaces = [] }) =>
        interfaces.flatMap(({ name: interfaceName, pod, statistics }): readonly Series[] => {
          const value = statistics[key]
          const labels = { interfaceName, pod_name: pod.name, pod_namespace: pod.namespace }
          return value === undefined ? [] : [[labels, value]]
        }),
    )
}

function stateOf(state: string | undefined): number {
  return (state === undefined ? undefined : states[state]) ?? otherState
}
