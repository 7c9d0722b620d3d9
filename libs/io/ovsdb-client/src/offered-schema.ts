import { ProtocolError } from './errors.ts'
import type { DatabaseSchema } from './types.ts'

/** Reads the answer to `get_schema`, as far as this client relies on it. Throws {@link ProtocolError}. */
export function readSchema(answer: unknown): DatabaseSchema {
  const { tables } = entries(answer, 'schema') as { readonly tables?: unknown }
  for (const [name, table] of Object.entries(entries(tables, 'tables of the schema'))) {
    const { columns } = entries(table, `table ${name}`) as { readonly columns?: unknown }
    for (const [column, schema] of Object.entries(entries(columns, `columns of ${name}`))) {
      const { type } = entries(schema, `column ${name}.${column}`) as { readonly type?: unknown }
      if (typeof type !== 'string') entries(type, `type of ${name}.${column}`)
    }
  }
  return answer as DatabaseSchema
}

/** Reads the answer to `list_dbs`. Throws {@link ProtocolError}. */
export function readNames(answer: unknown): readonly string[] {
  if (Array.isArray(answer) && answer.every((name) => typeof name === 'string')) return answer
  throw new ProtocolError('answer to list_dbs is not a list of names', answer)
}

function entries(value: unknown, what: string): object {
  if (typeof value === 'object' && value !== null) return value
  throw new ProtocolError(`${what} is not an object`, value)
}
