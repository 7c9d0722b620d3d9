import type { Desired, Member } from '@kube-ovn/reconcile'

/** An ACL as the Northbound has it. */
export interface AclRow {
  readonly direction: string
  readonly tier: number
  readonly priority: number
  readonly action: string
  readonly match: string
  readonly isAfterBalancing: boolean
}

interface Holder {
  readonly name: string
  readonly ports: string[]
  readonly acls: AclRow[]
}

/** The rows by which OVN judges packets. */
export interface PolicyRows {
  /** The switch of each port. */
  readonly switches: readonly Holder[]
  readonly groups: readonly Holder[]
  readonly sets: ReadonlyMap<string, readonly string[]>
  /** What each port has: MAC address and IP addresses, by its name. */
  readonly ports: ReadonlyMap<string, readonly string[]>
}

/** Takes the rows that count for policies from what features want. */
export function policyRows(desired: readonly Desired[]): PolicyRows {
  const all = desired.flatMap((one) => one.rows.map((row) => [`${row.kind.name}/${row.id}`, row] as const))
  const rows = new Map(all)
  if (rows.size < all.length) throw new RowWantedTwiceError(twiceIn(all.map(([id]) => id)))
  const switches = new Map<string, Holder>()
  const groups = new Map<string, Holder>()
  const sets = new Map<string, string[]>()
  const ports = new Map<string, string[]>()
  const acls = new Map<string, AclRow>()
  const names = new Map<string, string>()
  for (const [id, { kind, columns }] of rows) {
    const name = textOf(columns['name'])
    names.set(id, name)
    if (kind.table === 'Logical_Switch') switches.set(id, { name, ports: [], acls: [] })
    if (kind.table === 'Port_Group') groups.set(id, { name, ports: [], acls: [] })
    if (kind.table === 'Address_Set') sets.set(id, textsOf(columns['addresses']))
    if (kind.table === 'Logical_Switch_Port')
      ports.set(
        name,
        textsOf(columns['addresses']).flatMap((text) => text.split(' ')),
      )
    if (kind.table === 'ACL') acls.set(id, aclOf(columns))
  }
  for (const { of, column, value } of desired.flatMap(({ members }): readonly Member[] => members)) {
    const container = `${of.kind}/${of.id}`
    const holder = switches.get(container) ?? groups.get(container)
    const target = typeof value === 'object' ? `${value.kind}/${value.id}` : ''
    const acl = acls.get(target)
    if (column === 'acls' && acl !== undefined) holder?.acls.push(acl)
    if (column === 'ports') holder?.ports.push(names.get(target) ?? '')
    if (column === 'addresses' && typeof value === 'string') sets.get(container)?.push(value)
  }
  const named = ['Port_Group', 'Address_Set'].flatMap((table) =>
    [...rows].flatMap(([id, { kind }]) => (kind.table === table ? [`${table} ${names.get(id) ?? ''}`] : [])),
  )
  const twice = twiceIn(named)
  if (twice.length > 0) throw new RowWantedTwiceError(twice)
  return {
    switches: [...switches.values()],
    groups: [...groups.values()],
    sets: new Map([...sets].map(([id, addresses]) => [names.get(id) ?? '', addresses])),
    ports,
  }
}

/** Two objects want one row each, and both would be it. */
class RowWantedTwiceError extends Error {
  constructor(rows: readonly string[]) {
    super(`rows are wanted by more than one: ${rows.join(', ')}`)
  }
}

function twiceIn(ids: readonly string[]): readonly string[] {
  return ids.filter((id, at) => ids.indexOf(id) !== at)
}

function aclOf(columns: Desired['rows'][number]['columns']): AclRow {
  const { direction, tier, priority, action, match, options } = columns
  const isSet = typeof options === 'object' && 'apply-after-lb' in options
  return {
    ...{ direction: textOf(direction), tier: Number(tier), priority: Number(priority) },
    ...{ action: textOf(action), match: textOf(match) },
    isAfterBalancing: isSet && options['apply-after-lb'] === 'true',
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
