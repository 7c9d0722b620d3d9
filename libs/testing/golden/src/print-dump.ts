import { isList, isObject, type Json } from './dump.ts'

/** Columns that a value may take before it is broken into lines. */
const width = 180

/** Prints a value as the recordings are printed: whatever fits on one line is on one line, so that a difference is a line. */
export function printDump(value: Json, indent = 0): string {
  const line = printLine(value)
  if (line.length + indent <= width || !(isList(value) || isObject(value))) return line
  const inner = ' '.repeat(indent + 1)
  const parts = isList(value)
    ? value.map((item) => `${inner}${printDump(item, indent + 1)}`)
    : Object.entries(value).map(
        ([key, item]) => `${inner}${JSON.stringify(key)}: ${printDump(item, indent + 1)}`,
      )
  const [open, close] = isList(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`
}

function printLine(value: Json): string {
  if (isList(value)) return `[${value.map(printLine).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printLine(item)}`)
  return `{${entries.join(', ')}}`
}
