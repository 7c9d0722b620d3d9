import { renderChain, renderElements, renderRules } from './render.ts'
import type { Chain, NftMap, NftSet, Table } from './types.ts'

/**
 * Renders the transaction that makes a table another one, and touches only what differs.
 *
 * Undefined where that can not be, and the table must be replaced: a set or a map came or went, or something is declared otherwise.
 * Parts that are the very same objects in both are not looked into, so who changes a little of a large table pays for the little.
 */
export function renderChange(before: Table, table: Table): readonly object[] | undefined {
  const sets = changeEach(before.sets, table.sets, (old, set) => changeSet(table, old, set))
  const maps = changeEach(before.maps ?? [], table.maps ?? [], (old, map) => changeMap(table, old, map))
  const chains = changeChains(before, table)
  if (sets === undefined || maps === undefined || chains === undefined) return undefined
  // What leads to a chain goes before it, and comes after it.
  return [
    ...sets.flat(),
    ...chains.added,
    ...maps.flatMap(({ deleted }) => deleted),
    ...chains.flushed,
    ...chains.rules,
    ...maps.flatMap(({ added }) => added),
    ...chains.deleted,
  ]
}

interface Named {
  readonly name: string
}

function changeEach<T extends Named, C>(
  before: readonly T[],
  after: readonly T[],
  change: (old: T, one: T) => C | undefined,
): readonly C[] | undefined {
  if (before.length !== after.length) return undefined
  const known = byName(before)
  const changes: C[] = []
  for (const one of after) {
    const old = known.get(one.name)
    const changed = old === undefined ? undefined : change(old, one)
    if (changed === undefined) return undefined
    changes.push(changed)
  }
  return changes
}

/** Elements of intervals stand for each other, so a set of such ones is filled anew; of another one, what differs is changed. */
function changeSet(table: Table, old: NftSet, set: NftSet): readonly object[] | undefined {
  if (old === set) return []
  if (!saysSame({ ...old, elements: [] }, { ...set, elements: [] })) return undefined
  const elements = renderElements(set)
  if (saysSame(renderElements(old), elements)) return []
  const of = { family: table.family, table: table.name, name: set.name }
  const [gone, come] =
    set.flags?.includes('interval') === true
      ? [undefined, elements]
      : differing(renderElements(old), elements)
  return [
    ...(gone === undefined ? [{ flush: { set: of } }] : []),
    ...(gone === undefined || gone.length === 0 ? [] : [{ delete: { element: { ...of, elem: gone } } }]),
    ...(come.length === 0 ? [] : [{ add: { element: { ...of, elem: come } } }]),
  ]
}

function changeMap(
  { family, name: table }: Table,
  old: NftMap,
  map: NftMap,
): { readonly deleted: readonly object[]; readonly added: readonly object[] } | undefined {
  if (!saysSame({ ...old, elements: [] }, { ...map, elements: [] })) return undefined
  const [gone, come] = differing(old.elements, map.elements)
  const element = (elem: readonly unknown[]) => ({ element: { family, table, name: map.name, elem } })
  return {
    deleted: gone.length === 0 ? [] : [{ delete: element(gone) }],
    added: come.length === 0 ? [] : [{ add: element(come) }],
  }
}

function changeChains(before: Table, table: Table) {
  const { family, name } = table
  const known = byName(before.chains)
  const wanted = byName(table.chains)
  const keyOf = (chain: Chain) => ({ chain: { family, table: name, name: chain.name } })
  const added: Chain[] = []
  const changed: Chain[] = []
  for (const chain of table.chains) {
    const old = known.get(chain.name)
    if (old === undefined) added.push(chain)
    else if (old !== chain) {
      if (!saysSame({ ...old, rules: [] }, { ...chain, rules: [] })) return undefined
      if (!saysSame(old.rules, chain.rules)) changed.push(chain)
    }
  }
  const deleted = before.chains.filter((chain) => !wanted.has(chain.name))
  return {
    added: added.map((chain) => ({ add: { chain: renderChain(table, chain) } })),
    flushed: [...changed, ...deleted].map((chain) => ({ flush: keyOf(chain) })),
    rules: [...added, ...changed].flatMap((chain) => renderRules(table, chain)),
    deleted: deleted.map((chain) => ({ delete: keyOf(chain) })),
  }
}

/** What only the one has, and what only the other. */
function differing<T>(before: readonly T[], after: readonly T[]): readonly [readonly T[], readonly T[]] {
  const [old, now] = [new Set(before), new Set(after)]
  const gone = before.filter((one) => !now.has(one))
  const come = after.filter((one) => !old.has(one))
  const [goneTexts, comeTexts] = [gone, come].map((list) => new Set(list.map((one) => JSON.stringify(one))))
  return [
    gone.filter((one) => comeTexts?.has(JSON.stringify(one)) !== true),
    come.filter((one) => goneTexts?.has(JSON.stringify(one)) !== true),
  ]
}

function byName<T extends Named>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((one) => [one.name, one]))
}

function saysSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
