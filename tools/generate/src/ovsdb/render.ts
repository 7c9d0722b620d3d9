import type { SchemaSource } from './databases.ts'

/** The parts of an .ovsschema file that matter here (RFC 7047, section 3.2). */
export interface Schema {
  readonly name: string
  readonly version: string
  readonly tables: Readonly<Record<string, Table>>
}

interface Table {
  readonly columns: Readonly<Record<string, { readonly type: string | ColumnType }>>
}

interface ColumnType {
  readonly key: string | BaseType
  readonly value?: string | BaseType
  readonly min?: number
  readonly max?: number | 'unlimited'
}

interface BaseType {
  readonly type: string
  readonly enum?: unknown
  readonly refTable?: string
  readonly refType?: string
  readonly minInteger?: number
  readonly maxInteger?: number
}

/** Renders the module of one database: an interface per table, the table map, the schema. Not yet formatted. */
export function renderDatabase(source: SchemaSource, schema: Schema & { readonly cksum?: string }): string {
  const { cksum: _checksum, ...data } = schema
  const tables = Object.entries(schema.tables).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    `// Generated from ${source.schemaFile} by tools/generate/src/ovsdb/main.ts; do not edit.`,
    '',
    ...tables.map(([name, table]) => renderTable(name, table)),
    `/** Row types of database ${schema.name} (schema version ${schema.version}) by table. */`,
    // An alias, because an interface has no implicit index signature and would not be a general table map.
    `export type ${source.tablesType} = {`,
    ...tables.map(([name]) => `readonly ${name}: ${interfaceName(name)}`),
    '}',
    '',
    `/** The schema of database ${schema.name} as its .ovsschema file has it. */`,
    `export const ${source.schemaConstant} = ${JSON.stringify(data)} as const`,
    '',
  ].join('\n')
}

/** Turns a table's name into that of its row type: `Logical_Switch` → `LogicalSwitch`, `DHCP_Options` → `DhcpOptions`. */
export function interfaceName(table: string): string {
  return table
    .split('_')
    .map((part) => {
      const rest = part.slice(1)
      return part.charAt(0).toUpperCase() + (part === part.toUpperCase() ? rest.toLowerCase() : rest)
    })
    .join('')
}

function renderTable(name: string, table: Table): string {
  const columns = Object.entries(table.columns).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [
    `/** A row of table ${name}. */`,
    `export interface ${interfaceName(name)} {`,
    'readonly _uuid: string',
    ...columns.map(([column, { type }]) =>
      renderColumn(column, typeof type === 'string' ? { key: type } : type),
    ),
    '}',
    '',
  ].join('\n')
}

function renderColumn(name: string, type: ColumnType): string {
  const notes = [
    ...notesOn(type.key, type.value === undefined ? '' : 'key: '),
    ...notesOn(type.value, 'value: '),
  ]
  const limit = typeof type.max === 'number' && type.max > 1 ? [`at most ${type.max}`] : []
  const comment = [...notes, ...limit].join('; ')
  return `${comment === '' ? '' : `/** ${comment} */\n`}readonly ${name}: ${columnTypeScript(type)}`
}

/** The TypeScript type of a column's value, following `Value` of ovsdb-client. */
export function columnTypeScript(type: ColumnType): string {
  const min = type.min ?? 1
  const max = type.max ?? 1
  if (type.value !== undefined) return `Readonly<Record<string, ${atomTypeScript(type.value)}>>`
  const atom = atomTypeScript(type.key)
  if (max !== 1) return `readonly ${atom.includes('|') ? `(${atom})` : atom}[]`
  return min === 0 ? `${atom} | undefined` : atom
}

function atomTypeScript(base: string | BaseType): string {
  if (typeof base !== 'string' && base.enum !== undefined) {
    return enumValues(base.enum)
      .map((value) => JSON.stringify(value))
      .join(' | ')
  }
  const atom = typeof base === 'string' ? base : base.type
  switch (atom) {
    case 'integer':
    case 'real':
      return 'number'
    case 'boolean':
    case 'string':
      return atom
    case 'uuid':
      return 'string'
    default:
      throw new Error(`atomic type ${atom} is not one of RFC 7047, section 5.1`)
  }
}

/** An enum is a single atom or `["set", [atom…]]`. */
function enumValues(value: unknown): readonly unknown[] {
  return Array.isArray(value) && value[0] === 'set' && Array.isArray(value[1]) ? value[1] : [value]
}

function notesOn(base: string | BaseType | undefined, role: string): readonly string[] {
  if (base === undefined || typeof base === 'string') return []
  const { refTable, refType, minInteger, maxInteger } = base
  return [
    ...(refTable === undefined ? [] : [`${role}${refType ?? 'strong'} reference to ${refTable}`]),
    ...(minInteger === undefined && maxInteger === undefined
      ? []
      : [`${role}${minInteger ?? ''}…${maxInteger ?? ''}`]),
  ]
}
