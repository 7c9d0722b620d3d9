import type { KubeObject, Resource } from '@kube-ovn/kube'
import type { RowKind } from '@kube-ovn/ovn-names'
import fc from 'fast-check'
import {
  nothing,
  type Desired,
  type Feature,
  type Member,
  type Membership,
  type OwnedRow,
} from '../feature.ts'
import { markColumn } from '../marks.ts'
import type { Objects } from '../objects.ts'
import { kinds as plain, row } from '../plan-fixture.ts'
import { mapOf } from '../rows.ts'
import { singletonRef } from '../want.ts'

const switchNames = ['blue', 'red', 'green']
const portNames = ['a', 'b', 'c', 'd', 'e']
const groupNames = ['g', 'h']
const balancerNames = ['l', 'm']
const setNames = ['s']
const addressNames = ['v', 'w']
const settingNames = ['p', 'q']
const mappingNames = ['t', 'u']
const macNames = ['x', 'y']
const poolNames = ['i', 'j']

const kinds = {
  ls: { ...plain.ls, exactMaps: ['other_config'] },
  lsp: { ...plain.lsp, exactMaps: ['options'] },
  hacg: plain.hacg,
  pg: plain.pg,
  lb: plain.lb,
  set: plain.set,
  // Its only row needs no name to be known by.
  dhcp: {
    ...plain.dhcp,
    identify: (row) => (mapOf(row, markColumn)['vendor'] === 'kube-ovn' ? 'd' : undefined),
  },
  lbg: plain.lbg,
  mac: plain.mac,
} as const satisfies Record<string, RowKind>

interface PortState {
  readonly on: string
  readonly addresses: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly groups: readonly string[]
  readonly hasDhcp: boolean
  /** Whether it has a chassis group of its own. */
  readonly hasChassis: boolean
}

interface BalancerState {
  readonly vips: Readonly<Record<string, string>>
}

/** What users ask for. */
export interface State {
  readonly switches: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
  readonly ports: Readonly<Record<string, PortState | undefined>>
  readonly groups: Readonly<Record<string, true | undefined>>
  readonly balancers: Readonly<Record<string, BalancerState | undefined>>
  /** Switches to which balancers are attached, by two that do so independently of each other. */
  readonly attached: Readonly<Record<string, readonly string[]>>
  readonly alsoAttached: Readonly<Record<string, readonly string[]>>
  readonly sets: Readonly<Record<string, true | undefined>>
  /** Sets to which addresses are contributed, as plain values. */
  readonly addresses: Readonly<Record<string, readonly string[]>>
  /** Options of DHCP that each of two wants, whatever the other one does. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Balancers to whose mappings an entry is contributed, and its value. */
  readonly mappings: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Bindings of addresses, and pools of balancers: rows that can not be marked. */
  readonly macs: Readonly<Record<string, string | undefined>>
  readonly pools: Readonly<Record<string, true | undefined>>
  /** Pools to which balancers are attached. */
  readonly pooled: Readonly<Record<string, readonly string[]>>
  readonly hasDhcp: boolean
  readonly option: string | undefined
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const each = <T>(names: readonly string[], arbitrary: fc.Arbitrary<T>) =>
  fc.record(Object.fromEntries(names.map((name) => [name, arbitrary])))
const smallMap = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.constantFrom('1', '2'), { maxKeys: 3 })

export const state: fc.Arbitrary<State> = fc.record({
  switches: each(switchNames, maybe(smallMap)),
  ports: each(
    portNames,
    maybe(
      fc.record({
        on: fc.constantFrom(...switchNames),
        addresses: fc.subarray(['x', 'y', 'z']),
        options: smallMap,
        groups: fc.subarray(groupNames),
        hasDhcp: fc.boolean(),
        hasChassis: fc.boolean(),
      }),
    ),
  ),
  groups: each(groupNames, fc.constantFrom(true as const, undefined)),
  balancers: each(balancerNames, maybe(fc.record({ vips: smallMap }))),
  attached: each(balancerNames, fc.subarray(switchNames)),
  alsoAttached: each(balancerNames, fc.subarray(switchNames)),
  sets: each(setNames, fc.constantFrom(true as const, true as const, true as const, undefined)),
  addresses: each(addressNames, fc.subarray(setNames)),
  settings: each(
    settingNames,
    fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { maxKeys: 2 }),
  ),
  mappings: each(
    mappingNames,
    fc.dictionary(fc.constantFrom(...balancerNames), fc.constantFrom('1', '2'), { maxKeys: 2 }),
  ),
  macs: each(macNames, fc.constantFrom('1', '2', undefined)),
  pools: each(poolNames, fc.constantFrom(true as const, undefined)),
  pooled: each(balancerNames, fc.subarray(poolNames)),
  hasDhcp: fc.boolean(),
  option: fc.constantFrom('1', '2', undefined),
})

/** The same without what cannot be: a key waits, and keeps what it had, while a row that it refers to is missing. */
export function possible(given: State): State {
  const { switches, groups, sets, balancers, hasDhcp } = given
  const existing = (names: readonly string[]) => names.filter((name) => switches[name] !== undefined)
  const attachable = (attached: State['attached']) => mapValues(attached, existing)
  return {
    ...given,
    ports: mapValues(given.ports, (port) => {
      if (port === undefined || switches[port.on] === undefined) return undefined
      const joined = port.groups.filter((name) => groups[name] === true)
      return { ...port, groups: joined, hasDhcp: port.hasDhcp && hasDhcp }
    }),
    attached: attachable(given.attached),
    alsoAttached: attachable(given.alsoAttached),
    addresses: mapValues(given.addresses, (names) => names.filter((name) => sets[name] === true)),
    pooled: mapValues(given.pooled, (names) => names.filter((name) => given.pools[name] === true)),
    settings: hasDhcp ? given.settings : {},
    mappings: mapValues(given.mappings, (entries) =>
      Object.fromEntries(Object.entries(entries).filter(([name]) => balancers[name] !== undefined)),
    ),
  }
}

/** The same with one value for each option that several want: that which it has, if any of them wants it so. */
export function decided(given: State, options: Readonly<Record<string, unknown>>): State {
  const wanted = Map.groupBy(Object.values(given.settings).flatMap(Object.entries<string>), ([key]) => key)
  return {
    ...given,
    settings: mapValues(given.settings, (entries) =>
      Object.fromEntries(
        Object.entries(entries).filter(([key, value]) => {
          const values = (wanted.get(key) ?? []).map(([, one]) => one)
          const decision = values.find((one) => one === options[key]) ?? values[0]
          return value === decision
        }),
      ),
    ),
  }
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

/** What a part of the state amounts to: a share of some key's desired state. */
interface Share {
  readonly role: Role
  readonly name: string
  readonly rows: readonly OwnedRow[]
  readonly members: readonly Member[]
}

const roles = [
  'switch',
  'port',
  'group',
  'balancer',
  'attach',
  'also',
  'set',
  'address',
  'setting',
  'mapping',
  'mac',
  'pool',
  'into',
  'dhcp',
  'global',
] as const
type Role = (typeof roles)[number]

const kindsOfRole: Readonly<Partial<Record<Role, readonly RowKind[]>>> = {
  switch: [kinds.ls],
  port: [kinds.lsp, kinds.hacg],
  group: [kinds.pg],
  balancer: [kinds.lb],
  set: [kinds.set],
  mac: [kinds.mac],
  pool: [kinds.lbg],
  dhcp: [kinds.dhcp],
}

/** Which features there are, and what is a key: each thing by itself, or all of a role together. */
export interface Layout {
  readonly featureOf: Readonly<Record<Role, number>>
  readonly isJoint: Readonly<Record<Role, boolean>>
}

function perRole<T>(arbitrary: (role: Role) => fc.Arbitrary<T>): fc.Arbitrary<Record<Role, T>> {
  const entries = roles.map((role): [Role, fc.Arbitrary<T>] => [role, arbitrary(role)])
  return fc.record(Object.fromEntries(entries) as Record<Role, fc.Arbitrary<T>>)
}

export const layout: fc.Arbitrary<Layout> = fc.record({
  // A membership is for a feature's own rows or for those of others: whoever attaches has no balancers.
  featureOf: perRole((role) =>
    role === 'attach' || role === 'also' || role === 'into' ? fc.nat(1) : fc.integer({ min: 2, max: 4 }),
  ),
  // No key wants two values for one entry.
  isJoint: perRole((role) => (role === 'setting' ? fc.constant(false) : fc.boolean())),
})

function member(
  kind: string,
  id: string,
  column: string,
  value: readonly [kind: string, id: string],
): Member {
  return { of: { kind, id }, column, value: { kind: value[0], id: value[1] } }
}

function sharesOf(given: State): readonly Share[] {
  const shares: Share[] = []
  function share(role: Role, name: string, rows: readonly OwnedRow[], members: readonly Member[] = []): void {
    shares.push({ role, name, rows, members })
  }
  for (const [name, config] of Object.entries(given.switches)) {
    if (config !== undefined) share('switch', name, [row(kinds.ls, name, { other_config: config })])
  }
  for (const [name, port] of Object.entries(given.ports)) {
    if (port === undefined) continue
    const dhcpv4_options = port.hasDhcp ? { kind: 'dhcp', id: 'd' } : undefined
    const ha_chassis_group = port.hasChassis ? { kind: 'hacg', id: name } : undefined
    const columns = { addresses: port.addresses, options: port.options, dhcpv4_options, ha_chassis_group }
    const chassis = port.hasChassis ? [row(kinds.hacg, name)] : []
    const joined = port.groups.map((group) => member('pg', group, 'ports', ['lsp', name]))
    const home = member('ls', port.on, 'ports', ['lsp', name])
    share('port', name, [row(kinds.lsp, name, columns), ...chassis], [home, ...joined])
  }
  for (const [name, isThere] of Object.entries(given.groups)) {
    if (isThere === true) share('group', name, [row(kinds.pg, name)])
  }
  for (const [name, balancer] of Object.entries(given.balancers)) {
    if (balancer !== undefined) share('balancer', name, [row(kinds.lb, name, { vips: balancer.vips })])
  }
  for (const role of ['attach', 'also'] as const) {
    const attached = role === 'attach' ? given.attached : given.alsoAttached
    for (const [name, switches] of Object.entries(attached)) {
      const members = switches.map((one) => member('ls', one, 'load_balancer', ['lb', name]))
      if (members.length > 0) share(role, name, [], members)
    }
  }
  for (const [name, isThere] of Object.entries(given.sets)) {
    if (isThere === true) share('set', name, [row(kinds.set, name)])
  }
  for (const [name, sets] of Object.entries(given.addresses)) {
    const members = sets.map((id): Member => ({ of: { kind: 'as', id }, column: 'addresses', value: name }))
    if (members.length > 0) share('address', name, [], members)
  }
  for (const [name, mac] of Object.entries(given.macs)) {
    const columns = { logical_port: `ours-${name}`, ip: '10.0.0.1', mac }
    if (mac !== undefined) share('mac', name, [row(kinds.mac, name, columns)])
  }
  for (const [name, isThere] of Object.entries(given.pools)) {
    if (isThere === true) share('pool', name, [row(kinds.lbg, name, { name: `ours-${name}` })])
  }
  for (const [name, pools] of Object.entries(given.pooled)) {
    const members = pools.map((one) => member('lbg', one, 'load_balancer', ['lb', name]))
    if (members.length > 0) share('into', name, [], members)
  }
  for (const [name, entries] of Object.entries(given.settings)) {
    const members = Object.entries(entries).map(([key, value]): Member => ({
      of: { kind: 'dhcp', id: 'd' },
      column: 'options',
      key,
      value,
    }))
    if (members.length > 0) share('setting', name, [], members)
  }
  for (const [name, entries] of Object.entries(given.mappings)) {
    const members = Object.entries(entries).map(([id, value]): Member => ({
      of: { kind: 'lb', id },
      column: 'ip_port_mappings',
      key: name,
      value,
    }))
    if (members.length > 0) share('mapping', name, [], members)
  }
  if (given.hasDhcp) share('dhcp', 'd', [{ kind: kinds.dhcp, id: 'd', columns: { cidr: '10.0.0.0/24' } }])
  share(
    'global',
    'option',
    [],
    [{ of: singletonRef('NB_Global'), column: 'options', key: 'k', value: given.option }],
  )
  return shares
}

function featureName(index: number): string {
  return `f${index}`
}

/** What each key of a feature wants. */
export function keysOf(
  given: State,
  { featureOf, isJoint }: Layout,
  feature: string,
): ReadonlyMap<string, Desired> {
  const keys = new Map<string, Desired>()
  for (const { role, name, rows, members } of sharesOf(given)) {
    if (featureName(featureOf[role]) !== feature) continue
    const key = isJoint[role] ? role : `${role}/${name}`
    const before = keys.get(key) ?? nothing
    keys.set(key, { ...before, rows: [...before.rows, ...rows], members: [...before.members, ...members] })
  }
  return keys
}

export const widgets: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
}

/** The world of the features: what users ask for at this moment, and the objects as a process knows them. */
export interface SimulatedWorld {
  state: State
  readonly layout: Layout
  objects: Pick<Objects, 'store'> | undefined
}

/** On every widget that is in our care. */
export const ourFinalizer = 'ours'

interface Snapshot {
  readonly wanted: Desired
  /** Those that others have put on the widget. */
  readonly finalizers: readonly string[]
}

/** The object in which a key writes down what it was reconciled to. */
export function widgetOf(feature: string, key: string, { rows, members }: Desired): KubeObject {
  const name = widgetName(feature, key)
  const rest = rows.map(({ kind, id, columns }) => [kind.name, id, columns])
  const labels = { last: JSON.stringify([rest, members]) }
  return { metadata: { name, uid: name, labels, finalizers: [ourFinalizer] } }
}

/** The features that a layout has, as a random but lasting choice. */
export function featuresOf(layoutOfAll: Layout): readonly Feature<string, Snapshot, SimulatedWorld>[] {
  const names = new Set(roles.map((role) => featureName(layoutOfAll.featureOf[role])))
  return [...names].sort().map((name) => featureOf(name, layoutOfAll))
}

function featureOf(name: string, ofAll: Layout): Feature<string, Snapshot, SimulatedWorld> {
  const own = roles.filter((role) => featureName(ofAll.featureOf[role]) === name)
  const attaches = own.includes('attach') || own.includes('also')
  return {
    name,
    kinds: own.flatMap((role) => kindsOfRole[role] ?? []),
    memberships: [
      ...(own.includes('port')
        ? [
            { kind: 'ls', column: 'ports' },
            { kind: 'pg', column: 'ports' },
          ]
        : []),
      ...(attaches ? [{ kind: 'ls', column: 'load_balancer' }] : []),
      ...(own.includes('into') ? [{ kind: 'lbg', column: 'load_balancer' }] : []),
      ...(own.includes('address') ? [composing(ofAll)] : []),
      ...(own.includes('setting') ? [{ kind: 'dhcp', column: 'options' }] : []),
      ...(own.includes('mapping') ? [mapping(ofAll)] : []),
    ],
    triggers: [
      { on: 'signal', signal: name, keys: (key) => [key] },
      {
        on: 'object',
        resource: widgets,
        keys(change) {
          const [feature, ...key] = change.key.split('.')
          return feature === name ? [key.join('/')] : []
        },
      },
    ],
    initialKeys: (world) => keysOf(world.state, ofAll, name).keys(),
    observe(key, world) {
      const wanted = keysOf(world.state, ofAll, name).get(key)
      if (wanted === undefined) return undefined
      const widget = world.objects?.store(widgets)?.get(widgetName(name, key))
      const { finalizers = [] } = widget?.metadata ?? {}
      return { wanted, finalizers: finalizers.filter((finalizer) => finalizer !== ourFinalizer) }
    },
    desired(key, snapshot) {
      const patch = { resource: widgets, name: widgetName(name, key) }
      if (snapshot === undefined) return { ...nothing, patches: [{ ...patch, remove: true }] }
      const { wanted, finalizers } = snapshot
      const object = widgetOf(name, key, wanted)
      const { labels = {} } = object.metadata
      const merge = { metadata: { labels, finalizers: [...finalizers, ourFinalizer] } }
      return { ...wanted, patches: [{ ...patch, create: object, merge }] }
    },
  }
}

/** An address is its key's own. */
function composing({ isJoint }: Layout): Membership {
  return {
    kind: 'as',
    column: 'addresses',
    keyOf({ value }) {
      if (typeof value !== 'string' || !addressNames.includes(value)) return undefined
      return isJoint.address ? 'address' : `address/${value}`
    },
  }
}

/** An entry is of the key that it is named after. */
function mapping({ isJoint }: Layout): Membership {
  return {
    kind: 'lb',
    column: 'ip_port_mappings',
    keyOf(member) {
      if (!('key' in member) || !mappingNames.includes(member.key)) return undefined
      return isJoint.mapping ? 'mapping' : `mapping/${member.key}`
    },
  }
}

function widgetName(feature: string, key: string): string {
  return `${feature}.${key.replace('/', '.')}`
}
