import { mergeElements } from './merge.ts'
import type { Chain, NftMap, NftSet, SetElement, Table, TableKey } from './types.ts'

/**
 * Renders the transaction that makes a table exactly what is wanted, whatever it was before.
 *
 * `delete` fails where there is nothing, hence the `add` in front of it.
 */
export function renderReplacement(table: Table): readonly object[] {
  return [...renderRemoval(table), ...renderTable(table)]
}

/** Renders the transaction that removes a table, if it is there. */
export function renderRemoval({ family, name }: TableKey): readonly object[] {
  return [{ add: { table: { family, name } } }, { delete: { table: { family, name } } }]
}

/** Renders a table: sets before the chains that look things up in them, chains before the maps and rules that lead to them. */
export function renderTable(table: Table): readonly object[] {
  const { family, name } = table
  return [
    { add: { table: { family, name } } },
    ...table.sets.map((set) => ({ add: { set: renderSet(table, set) } })),
    ...table.chains.map((chain) => ({ add: { chain: renderChain(table, chain) } })),
    ...(table.maps ?? []).map((map) => ({ add: { map: renderMap(table, map) } })),
    ...table.chains.flatMap((chain) => renderRules(table, chain)),
  ]
}

export function renderRules({ family, name }: TableKey, chain: Chain): readonly object[] {
  return chain.rules.map(({ statements, comment }) => ({
    add: {
      rule: {
        family,
        table: name,
        chain: chain.name,
        expr: statements,
        ...(comment === undefined ? {} : { comment }),
      },
    },
  }))
}

export function renderElements(set: NftSet): readonly SetElement[] {
  return set.autoMerge === true ? mergeElements(set) : set.elements
}

function renderSet(table: TableKey, set: NftSet): object {
  const elements = renderElements(set)
  return {
    family: table.family,
    table: table.name,
    name: set.name,
    type: set.type,
    ...(set.flags === undefined ? {} : { flags: set.flags }),
    ...(set.comment === undefined ? {} : { comment: set.comment }),
    // nft refuses an empty list.
    ...(elements.length === 0 ? {} : { elem: elements }),
  }
}

function renderMap(table: TableKey, { name, type, comment, elements }: NftMap): object {
  return {
    family: table.family,
    table: table.name,
    name,
    type,
    map: 'verdict',
    ...(comment === undefined ? {} : { comment }),
    ...(elements.length === 0 ? {} : { elem: elements }),
  }
}

export function renderChain(table: TableKey, { name, base, comment }: Chain): object {
  return {
    family: table.family,
    table: table.name,
    name,
    ...(base === undefined
      ? {}
      : {
          ...{ type: base.type, hook: base.hook, prio: base.priority, policy: base.policy ?? 'accept' },
          ...(base.link === undefined ? {} : { dev: base.link }),
        }),
    ...(comment === undefined ? {} : { comment }),
  }
}

/** The links that have to be there before nft can read a table. */
export function linksOf({ chains }: Table): readonly string[] {
  const named = chains.flatMap(({ base, rules }) => [
    ...(base?.link === undefined ? [] : [base.link]),
    ...rules.flatMap(({ statements }) => statements.flatMap((one) => ('fwd' in one ? [one.fwd.dev] : []))),
  ])
  return [...new Set(named)]
}
