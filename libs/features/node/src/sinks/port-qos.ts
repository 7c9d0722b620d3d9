import {
  nothingToDo,
  type Owner,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { KubeOvnError, type Refused } from '@kube-ovn/errors'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { NewRow, Operation } from 'ovsdb-client'
import {
  findAttached,
  isOwnQos,
  ownQos,
  removeQueuesOperations,
  unshapeOperations,
  type AttachedInterface,
  type InterfaceRow,
  type LocalOvs,
  type QosRow,
  type QueueRow,
} from '../local-ovs.ts'

/** How fast the port of an interface is, and how bad on purpose. */
export interface PortQos {
  /** Of the interface. */
  readonly name: string
  /** Of the rows: which logical port they are for, and which pod. */
  readonly ids: Readonly<Record<string, string>> & { readonly 'iface-id': string }
  /** Of what the port receives, kbit/s and kbit; 0 is any. */
  readonly policing: { readonly rate: number; readonly burst: number }
  /** Of what it sends; absent: as it comes. */
  readonly shaping: PortShaping | undefined
}

/** Columns as ovs-vswitchd.conf.db(5) has them. */
export type PortShaping =
  | { readonly type: 'linux-htb'; readonly queue: Readonly<Record<string, string>> }
  | { readonly type: 'linux-netem'; readonly config: Readonly<Record<string, string>> }

/** Says that a port has a quality of service that somebody else gave it. */
export class PortQosHeldError extends KubeOvnError<Refused> {
  readonly code = 'port-qos-held'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('port has the quality of service of somebody else', details)
  }
}

export const portQos: SinkKind<PortQos> = {
  name: 'port-qos',
  targets: ({ name }) => [name],
  // The types say all that the database asks for.
  validate: () => undefined,
}

/** Stands for rows of ours that no port has. */
const leftOver = '(none)'

/** Writes how fast ports are: only what differs, in one transaction for each port. What others gave a port stays. */
export class PortQosSink implements Sink<PortQos> {
  readonly kind = portQos
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(target: string, { claims, isComplete }: Wanted<PortQos>): SinkPlan {
    const [claim] = claims
    const attached = findAttached(this.#ovs, target)
    if (claim === undefined) {
      if (!isComplete) return nothingToDo
      return attached === undefined ? this.#planLeftOver() : this.#planRemoval(attached)
    }
    // Its coming is told.
    if (attached === undefined) return { ...nothingToDo, isWaiting: true }
    const { fragment, owner } = claim
    const isHeld =
      fragment.shaping !== undefined &&
      attached.port.qos !== undefined &&
      ownQos(this.#ovs, attached.port) === undefined
    const shaping = isHeld ? [] : this.#shapingOperations(attached, fragment)
    return this.#toPlan(
      [
        [`policing ${fragment.policing.rate} kbit/s`, this.#policingOperations(attached, fragment.policing)],
        [fragment.shaping === undefined ? 'no shaping' : `shaping by ${fragment.shaping.type}`, shaping],
      ],
      isHeld ? new Map([[owner, this.#heldBy(attached)]]) : new Map(),
    )
  }

  owned(): readonly string[] {
    const { cache } = this.#ovs
    const ports = [...cache.scan('Port')].filter((port) => ownQos(this.#ovs, port) !== undefined)
    const policed = [...cache.scan('Interface')].filter((row) => isOurs(row) && isPoliced(row))
    const names = [...ports, ...policed].map(({ name }) => name)
    return [...new Set(names), ...(this.#leftOver().length > 0 ? [leftOver] : [])]
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#ovs.onChange((changes) => {
      for (const { table, old, new: now } of changes) {
        const row = now ?? old
        if (row === undefined) continue
        if (table === 'Port' || table === 'Interface') listener((row as { readonly name: string }).name)
        else if (table === 'QoS' || table === 'Queue') this.#tellPorts(row as QosRow | QueueRow, listener)
      }
    })
  }

  #tellPorts({ external_ids: ids }: QosRow | QueueRow, listener: (target: string) => void): void {
    const rows = this.#ovs.cache.find('Interface', 'external_ids:iface-id', ids['iface-id'] ?? '')
    for (const { name } of rows) listener(name)
  }

  #heldBy({ port }: AttachedInterface): PortQosHeldError {
    const { type = '' } = this.#ovs.cache.get('QoS', port.qos ?? '') ?? {}
    const cure = `run "ovs-vsctl clear Port ${port.name} qos" on the node, or remove the annotations`
    return new PortQosHeldError({ field: `qos of port ${port.name}`, value: type, cure })
  }

  #policingOperations(
    { interface: row }: AttachedInterface,
    { rate, burst }: PortQos['policing'],
  ): readonly Operation[] {
    if (row.ingress_policing_rate === rate && row.ingress_policing_burst === burst) return []
    const columns = { ingress_policing_rate: rate, ingress_policing_burst: burst }
    return [this.#ovs.operations.update('Interface', row._uuid, columns)]
  }

  #shapingOperations(attached: AttachedInterface, { shaping, ids }: PortQos): readonly Operation[] {
    const present = ownQos(this.#ovs, attached.port)
    if (shaping === undefined) return unshapeOperations(this.#ovs, attached.port)
    if (present === undefined) return this.#newOperations(attached, shaping, ids)
    if (shaping.type === 'linux-netem') return this.#disturbOperations(present, shaping.config)
    const [uuid] = Object.entries(present.queues).flatMap(([id, one]) => (id === '0' ? [one] : []))
    const queue = uuid === undefined ? undefined : this.#ovs.cache.get('Queue', uuid)
    if (present.type !== shaping.type || queue === undefined)
      return [
        ...removeQueuesOperations(this.#ovs, present),
        ...this.#queueOperations(present, shaping.queue, ids),
      ]
    const isEqual = ['max-rate', 'burst'].every((key) => queue.other_config[key] === shaping.queue[key])
    if (isEqual) return []
    const other_config = { ...queue.other_config, ...shaping.queue }
    return [this.#ovs.operations.update('Queue', queue._uuid, { other_config })]
  }

  #newOperations(
    { port }: AttachedInterface,
    shaping: PortShaping,
    ids: PortQos['ids'],
  ): readonly Operation[] {
    const { operations } = this.#ovs
    const isHtb = shaping.type === 'linux-htb'
    const row: NewRow<QosRow> = {
      type: shaping.type,
      external_ids: ids,
      ...(isHtb ? { queues: { 0: { named: 'queue' } } } : { other_config: shaping.config }),
    }
    return [
      ...(isHtb
        ? [operations.insert('Queue', { other_config: shaping.queue, external_ids: ids }, 'queue')]
        : []),
      operations.insert('QoS', row, 'qos'),
      operations.update('Port', port._uuid, { qos: { named: 'qos' } }),
      ...this.#leftOver(ids['iface-id']),
    ]
  }

  #disturbOperations(present: QosRow, config: Readonly<Record<string, string>>): readonly Operation[] {
    const type = 'linux-netem'
    const keys = new Set([...Object.keys(config), ...Object.keys(present.other_config)])
    const isEqual =
      present.type === type && [...keys].every((key) => config[key] === present.other_config[key])
    if (isEqual) return []
    return [
      ...removeQueuesOperations(this.#ovs, present),
      this.#ovs.operations.update('QoS', present._uuid, { type, other_config: config, queues: {} }),
    ]
  }

  #queueOperations(
    present: QosRow,
    queue: Readonly<Record<string, string>>,
    ids: PortQos['ids'],
  ): readonly Operation[] {
    const { operations } = this.#ovs
    return [
      operations.insert('Queue', { other_config: queue, external_ids: ids }, 'queue'),
      operations.update('QoS', present._uuid, {
        ...{ type: 'linux-htb', other_config: {}, queues: { 0: { named: 'queue' } } },
      }),
    ]
  }

  /** Of a port of which nothing is asked any more. */
  #planRemoval(attached: AttachedInterface): SinkPlan {
    const isReset = isOurs(attached.interface)
    return this.#toPlan([
      ['no policing', isReset ? this.#policingOperations(attached, { rate: 0, burst: 0 }) : []],
      ['no shaping', unshapeOperations(this.#ovs, attached.port)],
    ])
  }

  /** Rows that stayed when a port was taken away by others. */
  #planLeftOver(): SinkPlan {
    const operations = this.#leftOver()
    return this.#toPlan([[`no rows of ports that are gone: ${operations.length}`, operations]])
  }

  /** Removes rows of ours that nobody refers to: all, or those for one logical port. */
  #leftOver(ifaceId?: string): readonly Operation[] {
    const { cache, operations } = this.#ovs
    const unused = [...cache.scan('QoS')].filter(
      (row) => isOwnQos(row) && cache.find('Port', 'qos', row._uuid).length === 0,
    )
    const gone = new Set(unused.map(({ _uuid }) => _uuid))
    const held = [...cache.scan('QoS')].filter(({ _uuid }) => !gone.has(_uuid))
    const used = new Set(held.flatMap(({ queues }) => Object.values(queues)))
    const queues = [...cache.scan('Queue')].filter((row) => isOwnQos(row) && !used.has(row._uuid))
    const isMeant = ({ external_ids: ids }: QosRow | QueueRow): boolean =>
      ifaceId === undefined || ids['iface-id'] === ifaceId
    return [
      ...unused.filter(isMeant).map(({ _uuid }) => operations.remove('QoS', _uuid)),
      ...queues.filter(isMeant).map(({ _uuid }) => operations.remove('Queue', _uuid)),
    ]
  }

  #toPlan(
    parts: readonly (readonly [what: string, operations: readonly Operation[]])[],
    refused: ReadonlyMap<Owner, KubeOvnError> = new Map(),
  ): SinkPlan {
    const changes = parts.filter(([, operations]) => operations.length > 0)
    const operations = changes.flatMap(([, some]) => some)
    return {
      changes: changes.map(([what]) => what),
      refused,
      carryOut: async () => void (await this.#ovs.transact(operations)),
    }
  }
}

function isOurs({ external_ids: ids }: Pick<InterfaceRow, 'external_ids'>): boolean {
  return ids[externalId.vendor] === vendor
}

function isPoliced(row: InterfaceRow): boolean {
  return row.ingress_policing_rate !== 0 || row.ingress_policing_burst !== 0
}
