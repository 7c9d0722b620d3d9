import { tableFamilies, type JsonObject, type JsonValue, type TableKey, type TableListing } from './types.ts'

/** The order in which kinds of objects are compared; rules keep their own order behind their chain's. */
const kinds = ['table', 'set', 'map', 'chain', 'rule']

/**
 * Reads what `nft -j list table` prints and takes out what does not belong to the table's meaning: handles, counts, the
 * order of set elements, the version of nft.
 */
export function parseListing(json: string): TableListing {
  const parsed = JSON.parse(json) as { readonly nftables: readonly JsonObject[] }
  return parsed.nftables
    .filter((object) => !('metainfo' in object))
    .map((object) => withoutCounts(object))
    .sort((a, b) => compareText(sortKey(a), sortKey(b)))
}

/** Reads what `nft -j list tables` prints; tables of other families than ours are left out. */
export function parseTables(json: string): readonly TableKey[] {
  const { nftables } = JSON.parse(json) as {
    readonly nftables: readonly { readonly table?: { readonly family: string; readonly name: string } }[]
  }
  return nftables.flatMap(({ table }) => {
    const family = tableFamilies.find((one) => one === table?.family)
    return table === undefined || family === undefined ? [] : [{ family, name: table.name }]
  })
}

export function sameListing(a: TableListing | undefined, b: TableListing | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Sorting is stable, so rules of one chain stay in the order in which the kernel asks them. */
function sortKey(object: JsonValue): string {
  const [kind = '', value = null] = Object.entries(asObject(object))[0] ?? []
  const name = asObject(value)[kind === 'rule' ? 'chain' : 'name']
  return `${kinds.indexOf(kind)} ${kind} ${typeof name === 'string' ? name : ''}`
}

function withoutCounts(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(withoutCounts)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'handle')
      .map(([key, inner]): [string, JsonValue] => {
        if (key === 'counter' && isObject(inner)) return [key, null]
        const cleaned = withoutCounts(inner)
        return [key, key === 'elem' || key === 'set' ? sorted(cleaned) : cleaned]
      }),
  )
}

/** Elements of sets have no order; the kernel's depends on a seed of its own. */
function sorted(elements: JsonValue): JsonValue {
  if (!Array.isArray(elements)) return elements
  return (elements as readonly JsonValue[]).toSorted((a, b) =>
    compareText(JSON.stringify(a), JSON.stringify(b)),
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function asObject(value: JsonValue): JsonObject {
  return isObject(value) ? value : {}
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
