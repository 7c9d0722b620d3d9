/** Replacer for `JSON.stringify`: what JSON has no form for, and errors by what they say. */
export function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error && 'details' in value)
    return { error: value.message, ...(value.details as object) }
  return value instanceof Error ? String(value) : value
}
