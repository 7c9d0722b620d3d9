import { InvalidTableError } from './errors.ts'
import { mergeElements } from './merge.ts'
import type { Chain, Table } from './types.ts'

/** What nft allows as the name of a chain or a set. */
const identifier = /^[a-zA-Z][\w/\\.-]*$/

/**
 * Finds what nft would refuse in a table without asking it: names that are none or occur twice, jumps and sets that lead nowhere,
 * elements that are none of the set's type.
 *
 * @throws InvalidTableError, InvalidSetError
 */
export function checkTable(table: Table): void {
  const { maps = [] } = table
  // A map and a set are looked up in the same way.
  const sets = checkNames(table, 'set', [...table.sets, ...maps])
  const chains = checkNames(table, 'chain', table.chains)
  for (const set of table.sets) if (set.autoMerge === true) mergeElements(set)
  for (const { name, elements } of maps) {
    for (const [, verdict] of elements) {
      const chain = 'goto' in verdict ? verdict.goto : 'jump' in verdict ? verdict.jump : undefined
      if (chain === undefined || chains.has(chain.target)) continue
      throw new InvalidTableError({ table: table.name, field: `map ${name}`, value: `chain ${chain.target}` })
    }
  }
  for (const chain of table.chains) {
    for (const { kind, name } of referencesOf(chain)) {
      if ((kind === 'set' ? sets : chains).has(name)) continue
      throw new InvalidTableError({
        table: table.name,
        field: `chain ${chain.name}`,
        value: `${kind} ${name}`,
      })
    }
  }
}

/** Of chains that have been looked at: most of a large table is as it was when it was checked before. */
const known = new WeakMap<Chain, readonly Reference[]>()

function referencesOf(chain: Chain): readonly Reference[] {
  const found = known.get(chain) ?? chain.rules.flatMap(({ statements }) => [...references(statements)])
  known.set(chain, found)
  return found
}

function checkNames(
  table: Table,
  kind: string,
  objects: readonly { readonly name: string }[],
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name } of objects) {
    if (names.has(name) || !identifier.test(name))
      throw new InvalidTableError({ table: table.name, field: `name of a ${kind}`, value: name })
    names.add(name)
  }
  return names
}

interface Reference {
  readonly kind: 'set' | 'chain'
  readonly name: string
}

/** Sets (`@name`) and chains that statements name, at any depth. */
function* references(value: unknown, key = ''): Iterable<Reference> {
  if (typeof value === 'string') {
    if (value.startsWith('@')) yield { kind: 'set', name: value.slice(1) }
    else if (key === 'target') yield { kind: 'chain', name: value }
  } else if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) yield* references(element)
  } else if (typeof value === 'object' && value !== null) {
    for (const [inner, element] of Object.entries(value)) yield* references(element, inner)
  }
}
