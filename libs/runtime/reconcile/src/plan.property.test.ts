import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Adoption } from './adoption.ts'
import { LocalRows } from './local-rows.ts'
import { planRemoval } from './plan.ts'
import { catalog, kinds, planOn, port, reconcile, row, schema, want } from './plan-fixture.ts'
import { columnOf, elementsOf, mapOf } from './rows.ts'
import type { Want } from './want.ts'

const switchNames = ['blue', 'red', 'green']
const portNames = ['a', 'b', 'c', 'd', 'e']

interface PortState {
  readonly on: string
  readonly addresses: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly groups: readonly string[]
}

interface State {
  readonly switches: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
  readonly ports: Readonly<Record<string, PortState | undefined>>
}

const smallMap = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.constantFrom('1', '2'), { maxKeys: 3 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const state: fc.Arbitrary<State> = fc.record({
  switches: fc.record(Object.fromEntries(switchNames.map((name) => [name, maybe(smallMap)]))),
  ports: fc.record(
    Object.fromEntries(
      portNames.map((name) => [
        name,
        maybe(
          fc.record({
            on: fc.constantFrom(...switchNames),
            addresses: fc.array(fc.constantFrom('x', 'y', 'z')),
            options: smallMap,
            groups: fc.subarray(['g', 'h']),
          }),
        ),
      ]),
    ),
  ),
})

/** A port waits while its switch is missing, and keeps what it had; a state to be reached has none of those. */
function possible({ switches, ports }: State): State {
  const kept = Object.entries(ports).map(([name, one]) => [
    name,
    one !== undefined && switches[one.on] !== undefined ? one : undefined,
  ])
  return { switches, ports: Object.fromEntries(kept) }
}

function wantsOf({ switches, ports }: State): readonly Want[] {
  const groups = want('groups', [row(kinds.pg, 'g'), row(kinds.pg, 'h')])
  const switchWants = Object.entries(switches).map(([name, config]) =>
    want(name, config === undefined ? [] : [row(kinds.ls, name, { other_config: config })]),
  )
  const portWants = Object.entries(ports).map(([name, one]) => {
    if (one === undefined) return want(name, [])
    const { owner, desired, ...rest } = port(name, one.on, { addresses: one.addresses, options: one.options })
    const joined = one.groups.map((group) => ({
      of: { kind: 'pg', id: group },
      column: 'ports',
      value: { kind: 'lsp', id: name },
    }))
    return { ...rest, owner, desired: { rows: desired.rows, members: [...desired.members, ...joined] } }
  })
  return [groups, ...switchWants, ...portWants]
}

/** Reconciles until nothing is planned: a port may need its switch to go first. */
function settle(rows: LocalRows, wants: readonly Want[]): void {
  for (let rounds = 0; reconcile(rows, wants).steps.length > 0; rounds++) expect(rounds).toBeLessThan(4)
}

/** Removes rows that lost their marks and that nobody adopted. */
function sweep(rows: LocalRows): void {
  const adoptable = new Adoption(catalog, rows)
  adoptable.rebuild()
  rows.apply(planRemoval(adoptable.leftOver(), { wants: [], rows, catalog, adoptable }).steps)
}

/** What strangers do: change columns, take values out of sets, delete rows, take marks away. */
const vandalism = fc.array(fc.tuple(fc.nat(), fc.constantFrom('clear', 'delete', 'unmark', 'empty')), {
  maxLength: 6,
})

function vandalise(
  rows: LocalRows,
  acts: readonly (readonly [number, string])[],
  foreign: ReadonlySet<string>,
): void {
  for (const [n, act] of acts) {
    const all = ['Logical_Switch', 'Logical_Switch_Port', 'Port_Group'].flatMap((table) =>
      [...rows.scan(table)]
        .filter(({ _uuid }) => !foreign.has(_uuid))
        .map((one) => ({ table, uuid: one._uuid })),
    )
    const victim = all[n % Math.max(1, all.length)]
    if (victim === undefined) return
    const { table, uuid } = victim
    if (act === 'delete' && table !== 'Logical_Switch_Port') rows.apply([{ do: 'delete', table, uuid }])
    if (act === 'clear') rows.apply([{ do: 'update', table, uuid, columns: { name: 'changed' } }])
    if (act === 'unmark')
      rows.apply([{ do: 'update', table, uuid, columns: { external_ids: { vendor: 'kube-ovn' } } }])
    if (act === 'empty' && table !== 'Logical_Switch_Port') {
      rows.apply([{ do: 'update', table, uuid, columns: { ports: [] } }])
    }
  }
}

/** Rows of a stranger, some of which look like ours. */
function addForeign(rows: LocalRows): ReadonlySet<string> {
  rows.apply([
    {
      do: 'insert',
      table: 'Logical_Switch_Port',
      name: 'p',
      columns: { name: 'a', external_ids: { owner2: 'net/a' } },
    },
    { do: 'insert', table: 'Logical_Switch', name: 's', columns: { name: 'blue', ports: [{ named: 'p' }] } },
    { do: 'insert', table: 'Port_Group', name: 'g', columns: { name: 'g', ports: [{ named: 'p' }] } },
    { do: 'insert', table: 'Load_Balancer', name: 'l', columns: { name: 'lb', vips: { a: 'b' } } },
  ])
  return new Set(Object.values(rows.dump()).flatMap((table) => Object.keys(table)))
}

function only(rows: LocalRows, uuids: ReadonlySet<string>): unknown {
  return Object.values(rows.dump()).flatMap((table) =>
    Object.values(table).filter(({ _uuid }) => uuids.has(_uuid)),
  )
}

function expectState(rows: LocalRows, { switches, ports }: State): void {
  for (const name of switchNames) {
    const config = switches[name]
    const found = rows.find('Logical_Switch', 'external_ids:id', `ls/${name}`)
    expect(found).toHaveLength(config === undefined ? 0 : 1)
    const holds = Object.entries(ports).filter(([, one]) => one?.on === name)
    const held = found.flatMap((one) => elementsOf(one, 'ports'))
    const ids = held.map(
      (uuid) => mapOf(rows.get('Logical_Switch_Port', String(uuid)) ?? { _uuid: '' }, 'external_ids')['id'],
    )
    expect(ids.sort()).toEqual(holds.map(([port]) => `lsp/${port}`).sort())
  }
  for (const [name, wanted] of Object.entries(ports)) {
    const [found] = rows.find('Logical_Switch_Port', 'external_ids:id', `lsp/${name}`)
    expect(found !== undefined).toBe(wanted !== undefined)
    if (found === undefined || wanted === undefined) continue
    expect(columnOf(found, 'name')).toBe(name)
    expect(columnOf(found, 'addresses')).toEqual([...new Set(wanted.addresses)].sort())
    expect(mapOf(found, 'options')).toMatchObject(wanted.options)
    for (const group of ['g', 'h']) {
      const [pg] = rows.find('Port_Group', 'external_ids:id', `pg/${group}`)
      expect(pg !== undefined && elementsOf(pg, 'ports').includes(found._uuid)).toBe(
        wanted.groups.includes(group),
      )
    }
  }
}

it('reaches any state from any other, whatever strangers did, and then plans nothing', () => {
  fc.assert(
    fc.property(state, vandalism, state.map(possible), (before, acts, after) => {
      const rows = new LocalRows(schema)
      const foreign = addForeign(rows)
      const untouched = only(rows, foreign)
      settle(rows, wantsOf(before))
      vandalise(rows, acts, foreign)
      settle(rows, wantsOf(after))
      sweep(rows)
      expect(planOn(rows, wantsOf(after)).steps).toEqual([])
      expect(only(rows, foreign)).toEqual(untouched)
      expectState(rows, after)
    }),
    { numRuns: 150 },
  )
})

it('does not care about the order of keys', () => {
  fc.assert(
    fc.property(state, state, fc.array(fc.nat(), { minLength: 9, maxLength: 9 }), (before, after, draws) => {
      const [one, other] = [new LocalRows(schema), new LocalRows(schema)]
      const shuffled = (wants: readonly Want[]) =>
        wants.map((each, n) => ({ each, draw: draws[n % draws.length] ?? 0 })).sort((a, b) => a.draw - b.draw)
      settle(one, wantsOf(before))
      settle(
        other,
        shuffled(wantsOf(before)).map(({ each }) => each),
      )
      settle(one, wantsOf(after))
      settle(
        other,
        shuffled(wantsOf(after)).map(({ each }) => each),
      )
      expect(other.dump()).toEqual(one.dump())
    }),
  )
})
