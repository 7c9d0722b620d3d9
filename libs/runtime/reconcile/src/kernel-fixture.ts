import type { Resource } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import type { RowKind } from '@kube-ovn/ovn-names'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { OvsdbClient } from 'ovsdb-client'
import { catalogOf, selectionOf } from './catalog.ts'
import type { Database } from './database.ts'
import { nothing, type Desired, type Feature } from './feature.ts'
import type { KernelOptions } from './kernel-options.ts'
import { Kernel } from './kernel.ts'
import { LocalObjects } from './local-objects.ts'
import { Signals } from './signals.ts'

interface SwitchSpec {
  readonly config?: Record<string, string>
  /** What the key answers beside its row. */
  readonly more?: Partial<Desired>
}

interface PortSpec {
  readonly on: string
  readonly addresses?: string[]
  readonly tag?: number
  /** Port groups that it must not be without. */
  readonly groups?: readonly string[]
  /** What the key answers beside its row. */
  readonly more?: Partial<Desired>
}

export interface Settings {
  readonly switches: Map<string, SwitchSpec>
  readonly ports: Map<string, PortSpec>
  readonly groups: Set<string>
}

export function emptySettings(): Settings {
  return { switches: new Map(), ports: new Map(), groups: new Set() }
}

type NamedTable = 'Logical_Switch' | 'Logical_Switch_Port' | 'Port_Group'

function rowKind(name: string, table: NamedTable, shared: string[] = []): RowKind<NamedTable> {
  return {
    name,
    table,
    shared,
    identify: (row) => (row.external_ids['vendor'] === 'kube-ovn' && 'name' in row ? row.name : undefined),
  }
}

const ls = rowKind('ls', 'Logical_Switch', ['ports'])
const lsp = rowKind('lsp', 'Logical_Switch_Port')
const pg = rowKind('pg', 'Port_Group', ['ports'])

export const widgets: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
}

const switchFeature: Feature<string, SwitchSpec, Settings> = {
  name: 'switch',
  kinds: [ls],
  triggers: [
    { on: 'signal', signal: 'switch', keys: (subject) => [subject] },
    { on: 'object', resource: widgets, keys: (change) => [change.key] },
  ],
  initialKeys: (world) => world.switches.keys(),
  observe: (key, world) => world.switches.get(key),
  desired: (key, spec) =>
    spec === undefined
      ? nothing
      : {
          ...nothing,
          rows: [{ kind: ls, id: key, columns: { name: key, other_config: spec.config } }],
          ...spec.more,
        },
}

const portFeature: Feature<string, PortSpec, Settings> = {
  name: 'port',
  kinds: [lsp],
  about: { resource: widgets },
  memberships: [
    { kind: 'ls', column: 'ports' },
    { kind: 'pg', column: 'ports' },
  ],
  triggers: [{ on: 'signal', signal: 'port', keys: (subject) => [subject] }],
  initialKeys: (world) => world.ports.keys(),
  observe: (key, world) => world.ports.get(key),
  desired: (key, spec) =>
    spec === undefined
      ? nothing
      : {
          ...nothing,
          rows: [{ kind: lsp, id: key, columns: { name: key, addresses: spec.addresses, tag: spec.tag } }],
          members: [
            { kind: 'ls', id: spec.on },
            ...(spec.groups ?? []).map((id) => ({ kind: 'pg', id })),
          ].map((of) => ({ of, column: 'ports', value: { kind: 'lsp', id: key } })),
          ...spec.more,
        },
}

const groupFeature: Feature<string, true, Settings> = {
  name: 'group',
  kinds: [pg],
  triggers: [{ on: 'signal', signal: 'group', keys: (subject) => [subject] }],
  initialKeys: (world) => world.groups.keys(),
  observe: (key, world) => (world.groups.has(key) ? true : undefined),
  desired: (key, isThere) =>
    isThere === undefined ? nothing : { ...nothing, rows: [{ kind: pg, id: key, columns: { name: key } }] },
}

/** A switch, the ports on it and their groups, wanted by a world that a test changes. */
export const features = [switchFeature, portFeature, groupFeature]

/** A database as a client sees it, to which what is sent is sent in another way. */
export function databaseOf(client: OvsdbClient<OvnNorthbound>, transact: Database['transact']): Database {
  return {
    cache: client.cache,
    get state() {
      return client.state
    },
    onState: (listener) => client.onState(listener),
    onChange: (listener) => client.onChange(listener),
    transact,
  }
}

/** One process: a client and a kernel, settled when this resolves. With members of a cluster it talks to their leader. */
export async function startProcess(
  northbound: { readonly address: string } | { readonly addresses: readonly string[] },
  world: Settings,
  more: Partial<KernelOptions<Settings>> = {},
  asDatabase: (client: OvsdbClient<OvnNorthbound>) => Database = (client) => client,
) {
  const stack = new AsyncDisposableStack()
  const selection = selectionOf(catalogOf(ovnNorthboundSchema, features))
  const client = stack.use(
    new OvsdbClient<OvnNorthbound>({
      ...('addresses' in northbound
        ? { endpoints: northbound.addresses, leaderOnly: true, inactivityProbeMs: 500 }
        : { endpoints: [northbound.address] }),
      schema: ovnNorthboundSchema,
      tables: { ...selection, NB_Global: {} },
    }),
  )
  await client.connect()
  const logger = recordingLogger()
  const signals = new Signals()
  const objects = new LocalObjects([widgets])
  const kernel = stack.use(
    new Kernel<Settings>({
      features,
      world,
      database: asDatabase(client),
      schema: ovnNorthboundSchema,
      objects,
      signals,
      logger,
      clock: systemClock,
      metrics: kernelMetrics(new Registry()),
      ...more,
    }),
  )
  kernel.start()
  await kernel.quiet()
  return {
    client,
    kernel,
    logger,
    objects,
    async change(kind: 'switch' | 'port' | 'group', ...keys: string[]): Promise<void> {
      for (const key of keys) signals.raise(kind, key)
      await kernel.quiet()
    },
    /** Waits until the client sees what a stranger does, and the kernel has dealt with it. */
    async after(act: () => Promise<unknown>): Promise<void> {
      const seen = Promise.withResolvers<void>()
      using _subscription = client.onChange(() => seen.resolve())
      await act()
      await seen.promise
      await kernel.quiet()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
