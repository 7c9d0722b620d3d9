import { localnetPortName } from '@kube-ovn/ovn-names'
import type { OpenVswitch } from '@kube-ovn/ovsdb-schema'
import type { NewRow, Operation, OvsdbClient } from 'ovsdb-client'

/** Key of `external_ids` that says which logical port an interface is. */
export const ifaceIdKey = 'iface-id'

/** The integration bridge, on which ovn-controller works. */
export const integrationBridge = 'br-int'

export type BridgeRow = OpenVswitch['Bridge']
export type InterfaceRow = OpenVswitch['Interface']
export type PortRow = OpenVswitch['Port']
export type QosRow = OpenVswitch['QoS']
export type QueueRow = OpenVswitch['Queue']
export type OpenVswitchRow = OpenVswitch['Open_vSwitch']

/** The node's own Open vSwitch database over one open connection, with the tables of {@link localOvsTables}. */
export type LocalOvs = Pick<
  OvsdbClient<OpenVswitch>,
  'cache' | 'operations' | 'transact' | 'state' | 'onChange' | 'onState'
>

/** What the node's features read of the database. Counters are left out: they change every few seconds. */
export const localOvsTables = {
  Open_vSwitch: { columns: ['external_ids', 'cur_cfg', 'next_cfg', 'bridges'] },
  Bridge: {
    columns: ['name', 'ports', 'datapath_type', 'external_ids', 'other_config', 'mirrors'],
    indexes: ['name', 'ports'],
  },
  Port: {
    columns: ['name', 'interfaces', 'external_ids', 'tag', 'trunks', 'qos'],
    indexes: ['name', 'interfaces', 'qos'],
  },
  Interface: {
    columns: [
      ...['name', 'type', 'external_ids', 'mac', 'mtu_request', 'error', 'ofport', 'link_state'],
      ...['ingress_policing_rate', 'ingress_policing_burst'],
    ],
    indexes: ['name', 'external_ids:iface-id'],
  },
  Mirror: { columns: ['name', 'output_port', 'select_all', 'select_dst_port', 'select_src_port'] },
  Flow_Sample_Collector_Set: { columns: ['id', 'bridge', 'ipfix', 'external_ids'] },
  IPFIX: { columns: ['targets'] },
  QoS: { columns: ['type', 'queues', 'other_config', 'external_ids'] },
  Queue: { columns: ['other_config', 'external_ids'] },
} as const

/** An interface that has a port of its own, as all interfaces of ours have. */
export interface AttachedInterface {
  readonly bridge: BridgeRow
  readonly port: PortRow
  readonly interface: InterfaceRow
}

export function findBridge(ovs: Pick<LocalOvs, 'cache'>, name: string): BridgeRow | undefined {
  return ovs.cache.find('Bridge', 'name', name)[0]
}

export function findInterface(ovs: Pick<LocalOvs, 'cache'>, name: string): InterfaceRow | undefined {
  return ovs.cache.find('Interface', 'name', name)[0]
}

/** The only row of the table Open_vSwitch; `undefined` before the cache is filled. */
export function openVswitchRow(ovs: Pick<LocalOvs, 'cache'>): OpenVswitchRow | undefined {
  for (const row of ovs.cache.scan('Open_vSwitch')) return row
  return undefined
}

/** The port of a physical network's bridge that leads to the switch of a subnet, as ovn-controller names it. */
export function localnetPatchName(subnet: string): string {
  return `patch-${localnetPortName(subnet)}-to-${integrationBridge}`
}

/** Whether it could be a port of {@link localnetPatchName}. */
export function isLocalnetPatch(port: string): boolean {
  const [before, after] = localnetPatchName('|').split('|', 2)
  return before !== undefined && after !== undefined && port.startsWith(before) && port.endsWith(after)
}

/** Finds an interface with the port and the bridge that hold it; `undefined` when any is missing. */
export function findAttached(ovs: Pick<LocalOvs, 'cache'>, name: string): AttachedInterface | undefined {
  const row = findInterface(ovs, name)
  if (row === undefined) return undefined
  const port = ovs.cache.find('Port', 'interfaces', row._uuid)[0]
  if (port === undefined) return undefined
  const bridge = ovs.cache.find('Bridge', 'ports', port._uuid)[0]
  return bridge === undefined ? undefined : { bridge, port, interface: row }
}

/** Whether packets of br-int are switched in user space, where nobody completes partial checksums. */
export function hasUserspaceDatapath(ovs: Pick<LocalOvs, 'cache'>): boolean {
  return findBridge(ovs, integrationBridge)?.datapath_type === 'netdev'
}

/** Whether ovn-controller says that the flows of the port with this interface are in place. */
export function isInstalled(row: Pick<InterfaceRow, 'external_ids'> | undefined): boolean {
  return row?.external_ids['ovn-installed'] === 'true'
}

/** Columns of a new Interface. */
export type NewInterface = NewRow<InterfaceRow> & { readonly name: string }

/** Adds a port with one interface to a bridge, in the operations of one transaction. */
export function addPortOperations(
  ovs: LocalOvs,
  bridge: BridgeRow,
  row: NewInterface,
  port: Omit<NewRow<PortRow>, 'name' | 'interfaces'> = {},
): readonly Operation[] {
  const { operations } = ovs
  return [
    operations.insert('Interface', row, 'interface'),
    operations.insert('Port', { ...port, name: row.name, interfaces: [{ named: 'interface' }] }, 'port'),
    operations.mutate('Bridge', bridge._uuid, [['ports', 'insert', [{ named: 'port' }]]]),
  ]
}

/** Takes a logical port from the interfaces that have it: ovn-controller binds it to one, which must not be one that goes. */
export function unbindOperations(ovs: LocalOvs, ifaceId: string | undefined): readonly Operation[] {
  if (ifaceId === undefined) return []
  return ovs.cache
    .find('Interface', `external_ids:${ifaceIdKey}`, ifaceId)
    .map(({ _uuid }) => ovs.operations.mutate('Interface', _uuid, [['external_ids', 'delete', [ifaceIdKey]]]))
}

/** Takes a port off its bridge; with the last reference the rows of port and interface go too, and with them its quality of service. */
export function removePortOperations(ovs: LocalOvs, attached: AttachedInterface): readonly Operation[] {
  const { bridge, port } = attached
  return [
    ovs.operations.mutate('Bridge', bridge._uuid, [['ports', 'delete', [port._uuid]]]),
    ...unshapeOperations(ovs, port),
  ]
}

/** The quality of service of a port, if it is one that we gave it, or upstream did. */
export function ownQos(ovs: Pick<LocalOvs, 'cache'>, { qos }: Pick<PortRow, 'qos'>): QosRow | undefined {
  const row = qos === undefined ? undefined : ovs.cache.get('QoS', qos)
  return row !== undefined && isOwnQos(row) ? row : undefined
}

/** Rows of quality of service that upstream or we wrote say which logical port they are for. */
export function isOwnQos({ external_ids: ids }: Pick<QosRow | QueueRow, 'external_ids'>): boolean {
  return ifaceIdKey in ids
}

/** Takes the quality of service of ours off a port, and away: such rows stay when nobody refers to them. */
export function unshapeOperations(ovs: LocalOvs, port: PortRow): readonly Operation[] {
  const row = ownQos(ovs, port)
  if (row === undefined) return []
  // The database does not let go of a row while a port refers to it, not even of one that goes in the same transaction.
  return [
    ovs.operations.update('Port', port._uuid, { qos: undefined }),
    ovs.operations.remove('QoS', row._uuid),
    ...removeQueuesOperations(ovs, row),
  ]
}

/** Removes the queues of ours that a row refers to, once it does not any more. */
export function removeQueuesOperations(ovs: LocalOvs, row: QosRow): readonly Operation[] {
  const { operations } = ovs
  const queues = Object.values(row.queues).filter((uuid) => {
    const queue = ovs.cache.get('Queue', uuid)
    return queue !== undefined && isOwnQos(queue)
  })
  return queues.map((uuid) => operations.remove('Queue', uuid))
}

/**
 * Sets keys of a map column, `undefined` for none, and leaves its other keys alone; yields nothing when all are as they should be.
 */
export function setMapKeys(
  ovs: LocalOvs,
  table: 'Interface' | 'Port' | 'Bridge' | 'Open_vSwitch',
  row: { readonly _uuid: string; readonly external_ids: Readonly<Record<string, string>> },
  wanted: Iterable<readonly [key: string, value: string | undefined]>,
): readonly Operation[] {
  const [removed, set] = differingKeys(row.external_ids, wanted)
  if (removed.length === 0) return []
  // An insertion does not replace the value of a key that is there.
  return [
    ovs.operations.mutate(table, row._uuid, [
      ['external_ids', 'delete', removed],
      ...(Object.keys(set).length === 0 ? [] : [['external_ids', 'insert', set] as const]),
    ]),
  ]
}

/** As {@link setMapKeys}, of the column `other_config` of a bridge. */
export function setBridgeConfig(
  ovs: LocalOvs,
  row: BridgeRow,
  wanted: Iterable<readonly [key: string, value: string | undefined]>,
): readonly Operation[] {
  const [removed, set] = differingKeys(row.other_config, wanted)
  if (removed.length === 0) return []
  return [
    ovs.operations.mutate('Bridge', row._uuid, [
      ['other_config', 'delete', removed],
      ...(Object.keys(set).length === 0 ? [] : [['other_config', 'insert', set] as const]),
    ]),
  ]
}

function differingKeys(
  present: Readonly<Record<string, string>>,
  wanted: Iterable<readonly [key: string, value: string | undefined]>,
): readonly [differing: readonly string[], set: Readonly<Record<string, string>>] {
  const differing = [...wanted].filter(([key, value]) => present[key] !== value)
  const set = differing.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return [differing.map(([key]) => key), Object.fromEntries(set)]
}
