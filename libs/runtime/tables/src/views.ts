import { TableDeclarationError } from './errors.ts'
import type { Input, TableInputs } from './inputs.ts'
import type { Rows } from './rows.ts'
import type { AnyTable, View } from './table.ts'

/** Hears what is read. */
export interface ReadLog {
  /** A row. Most often it has the key of whoever reads it, which is not worth an {@link Input}. */
  row(inputs: TableInputs, key: string): void
  other(input: () => Input): void
}

/** A view of a table that notes what is read. */
export function loggedView(
  { name, indexes }: AnyTable,
  rowsNow: () => Rows,
  inputs: TableInputs,
  log: ReadLog,
): View<unknown, string> {
  const checkIndex = (index: string): void => {
    if (!Object.hasOwn(indexes, index)) throw new TableDeclarationError(name, `it has no index ${index}`)
  }
  return {
    get(key) {
      log.row(inputs, key)
      return rowsNow().get(key)
    },
    find(index, value) {
      checkIndex(index)
      log.other(() => inputs.found(index, value))
      return sorted(rowsNow().keysOf(index, value)).map((key) => rowsNow().get(key))
    },
    keys(index, value) {
      checkIndex(index)
      log.other(() => inputs.members(index, value))
      return sorted(rowsNow().keysOf(index, value))
    },
    some(index, value) {
      checkIndex(index)
      const isThere = hasAny(rowsNow().keysOf(index, value))
      log.other(() => inputs.presence(index, value, isThere))
      return isThere
    },
    scan() {
      log.other(() => inputs.scan())
      return sorted(rowsNow().keys()).map((key) => rowsNow().get(key))
    },
  }
}

/** A view that notes nothing. */
export function plainView(rowsNow: () => Rows): View<unknown, string> {
  return {
    get: (key) => rowsNow().get(key),
    find: (index, value) => sorted(rowsNow().keysOf(index, value)).map((key) => rowsNow().get(key)),
    keys: (index, value) => sorted(rowsNow().keysOf(index, value)),
    some: (index, value) => hasAny(rowsNow().keysOf(index, value)),
    scan: () => sorted(rowsNow().keys()).map((key) => rowsNow().get(key)),
  }
}

/** No order of arrival may make a difference, or a restart would. */
export function sorted(keys: Iterable<string>): readonly string[] {
  return [...keys].sort()
}

export function hasAny(keys: Iterable<string>): boolean {
  for (const _key of keys) return true
  return false
}
