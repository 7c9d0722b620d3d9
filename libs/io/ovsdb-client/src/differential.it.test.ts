import {
  openVswitchSchema,
  ovnIcNorthboundSchema,
  ovnIcSouthboundSchema,
  ovnNorthboundSchema,
  ovnSouthboundSchema,
} from '@kube-ovn/ovsdb-schema'
import { type AnyDatabase, startDatabase } from '@kube-ovn/testing-ovsdb'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mapOf } from './column-type.ts'
import { OvsdbClient } from './client.ts'
import { rawJson, shortestInteger } from './integer.ts'
import type { Atom, BaseTypeSchema, ColumnTypeSchema, DatabaseSchema, NewValue, Value } from './types.ts'
import { compareAtoms } from './value.ts'

/*
 * What this client writes is read by the commands of Open vSwitch and OVN, and the reverse, for every column of the
 * five schemas and random legal values.
 */

/** A column's value as a list of elements or of key-value pairs: neither our notation nor theirs. */
type Model = readonly (readonly Atom[])[]

/** Table → column → value. There is one row for each table. */
type Contents = Readonly<Record<string, Readonly<Record<string, Model>>>>

const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))

it.each([
  openVswitchSchema,
  ovnIcNorthboundSchema,
  ovnIcSouthboundSchema,
  ovnNorthboundSchema,
  ovnSouthboundSchema,
] as readonly DatabaseSchema[])(
  `both sides read alike what either writes to $name (SEED=${seed})`,
  async (packaged) => {
    const schema = unconstrained(packaged)
    // Drawn beforehand: that takes seconds, in which no server is answered.
    const [initial = {}, ...samples] = fc.sample(arbitraryContents(schema), { seed, numRuns: 7 })
    await using database = await startDatabase(schema)
    const tables = Object.keys(schema.tables)
    await using client = new OvsdbClient({
      endpoints: [database.server.address],
      schema,
      tables: Object.fromEntries(tables.map((table) => [table, {}])),
      exactIntegers: true,
    })
    await client.connect()
    const { insert, update, comment } = client.operations
    const uuids = new Map(tables.map((table) => [table, crypto.randomUUID() as string]))
    await client.transact(
      tables.map((table) =>
        insert(table, ourRow(schema, table, initial[table]), { uuid: uuids.get(table) ?? '' }),
      ),
    )

    for (const [ours, theirs] of pairs(samples)) {
      await client.transact(
        tables.map((table) => update(table, uuids.get(table) ?? '', ourRow(schema, table, ours[table]))),
      )
      expect(await select(database, schema), 'written by us, read by ovsdb-client transact').toEqual(
        texts(ours),
      )
      expect(await dump(database, schema), 'written by us, read by ovsdb-client dump').toEqual(texts(ours))
      expect(cached(client, schema), 'written by us, read by us').toEqual(texts(ours))

      await write(database, schema, theirs)
      await client.transact([comment('barrier')])
      expect(cached(client, schema), 'written by ovsdb-client, read by us').toEqual(texts(theirs))
      for (const table of tables) {
        const expected = ourRow(schema, table, theirs[table])
        expect(client.cache.get(table, uuids.get(table) ?? '')).toEqual({
          _uuid: uuids.get(table),
          ...expected,
        })
      }
      if (schema.name === 'OVN_Northbound') {
        expect(await nbctlList(database, schema), 'read by ovn-nbctl').toEqual(texts(theirs))
      }
    }
  },
)

function pairs<A>(list: readonly A[]): readonly (readonly [A, A])[] {
  return list.flatMap((one, index) => {
    const other = list[index + 1]
    return index % 2 === 0 && other !== undefined ? [[one, other] as const] : []
  })
}

/** The schema with all its columns and their types, but without rules that concern more than one row. */
function unconstrained(schema: DatabaseSchema): DatabaseSchema {
  const tables = Object.entries(schema.tables).map(([name, { columns }]) => {
    const free = Object.entries(columns).map(([column, { type }]) => [
      column,
      { type: withoutReferences(type) },
    ])
    return [name, { columns: Object.fromEntries(free), isRoot: true }]
  })
  return { ...schema, tables: Object.fromEntries(tables) }
}

function withoutReferences(type: string | ColumnTypeSchema): string | ColumnTypeSchema {
  const free = (base: string | BaseTypeSchema): string | BaseTypeSchema =>
    typeof base === 'string' || base.refTable === undefined ? base : base.type
  if (typeof type === 'string') return type
  return { ...type, key: free(type.key), ...(type.value === undefined ? {} : { value: free(type.value) }) }
}

function columnsOf(schema: DatabaseSchema, table: string): readonly (readonly [string, ColumnTypeSchema])[] {
  return Object.entries(schema.tables[table]?.columns ?? {}).map(([column, { type }]) => [
    column,
    typeof type === 'string' ? { key: type } : type,
  ])
}

function arbitraryContents(schema: DatabaseSchema): fc.Arbitrary<Contents> {
  return fc.record(
    Object.fromEntries(
      Object.keys(schema.tables).map((table) => [
        table,
        fc.record(
          Object.fromEntries(columnsOf(schema, table).map(([name, type]) => [name, arbitraryModel(type)])),
        ),
      ]),
    ),
  )
}

function arbitraryModel(type: ColumnTypeSchema): fc.Arbitrary<Model> {
  const element =
    type.value === undefined
      ? fc.tuple(arbitraryAtom(type.key))
      : fc.tuple(arbitraryAtom(type.key), arbitraryAtom(type.value))
  return fc.uniqueArray(element as fc.Arbitrary<readonly Atom[]>, {
    minLength: type.min ?? 1,
    maxLength: Math.min(type.max === 'unlimited' ? 4 : (type.max ?? 1), 4),
    selector: ([key]) => String(key),
  })
}

function arbitraryAtom(base: string | BaseTypeSchema): fc.Arbitrary<Atom> {
  const { type, ...limits }: BaseTypeSchema = typeof base === 'string' ? { type: base } : base
  if (limits.enum !== undefined) {
    const listed = Array.isArray(limits.enum) ? (limits.enum[1] as Atom[]) : [limits.enum as Atom]
    return fc.constantFrom(...listed)
  }
  switch (type) {
    case 'integer': {
      const { minInteger = -(2n ** 63n), maxInteger = 2n ** 63n - 1n } = limits
      return fc.bigInt(BigInt(minInteger), BigInt(maxInteger)).map(shortestInteger)
    }
    case 'real':
      return fc.double({ noNaN: true, min: -1e300, max: 1e300 }).map((value) => {
        return Math.abs(value) < 1e-300 ? 0 : Number(value.toPrecision(15))
      })
    case 'boolean':
      return fc.boolean()
    case 'uuid':
      return fc.uuid()
    default:
      return fc
        .oneof(
          fc.string({ unit: 'binary', maxLength: 20 }),
          fc.string({ maxLength: 20 }),
          fc.constantFrom('true', '1', '[]'),
        )
        .filter((text) => text.isWellFormed() && !text.includes('\0'))
        .map((text) => text.slice(0, limits.maxLength ?? 20).toWellFormed())
  }
}

/** The row in our notation. */
function ourRow(
  schema: DatabaseSchema,
  table: string,
  row: Contents[string] = {},
): Record<string, NewValue & Value> {
  return Object.fromEntries(
    columnsOf(schema, table).map(([column, type]) => {
      const model = row[column] ?? []
      if (type.value !== undefined)
        return [column, mapOf(model.map(([key, value]) => [String(key), value ?? '']))]
      const atoms = model.map(([atom]) => atom ?? '').toSorted(compareAtoms)
      return [column, (type.max ?? 1) === 1 ? atoms[0] : atoms]
    }),
  )
}

/** What our cache has. */
function cached(client: OvsdbClient, schema: DatabaseSchema): object {
  return eachColumn(schema, (table, column, type) => {
    const [row] = client.cache.scan(table)
    const value = (row as unknown as Record<string, Value>)[column] // any row has columns
    if (type.value !== undefined)
      return Object.entries(value as object).map((entry) => entry.map((atom: Atom) => String(atom)).join('='))
    const atoms = (type.max ?? 1) === 1 ? (value === undefined ? [] : [value]) : (value as readonly Atom[])
    return atoms.map(String)
  })
}

function texts(contents: Contents): object {
  return Object.fromEntries(
    Object.entries(contents).map(([table, row]) => [
      table,
      Object.fromEntries(
        Object.entries(row).map(([column, model]) => [
          column,
          model.map((atoms) => atoms.map(String).join('=')).toSorted(),
        ]),
      ),
    ]),
  )
}

async function write(database: AnyDatabase, schema: DatabaseSchema, contents: Contents): Promise<void> {
  const operations = Object.entries(contents).map(([table, row]) => {
    const columns = columnsOf(schema, table).map(([column, type]) => [
      column,
      theirValue(type, row[column] ?? []),
    ])
    return { op: 'update', table, where: [], row: Object.fromEntries(columns) }
  })
  const transaction = JSON.stringify([schema.name, ...operations])
  const answer = await database.run('ovsdb-client', 'transact', database.server.socket, transaction)
  expect(answer).not.toContain('error')
}

/** A <value> of RFC 7047, section 5.1, always in its long form. */
function theirValue(type: ColumnTypeSchema, model: Model): unknown {
  const atom = (base: string | BaseTypeSchema, value: Atom | undefined): unknown => {
    if (typeof value === 'bigint') return rawJson(value)
    return (typeof base === 'string' ? base : base.type) === 'uuid' ? ['uuid', value] : value
  }
  const { key, value: base } = type
  if (base === undefined) return ['set', model.map(([element]) => atom(key, element))]
  return ['map', model.map(([one, other]) => [atom(key, one), atom(base, other)])]
}

async function select(database: AnyDatabase, schema: DatabaseSchema): Promise<object> {
  const operations = Object.keys(schema.tables).map((table) => ({ op: 'select', table, where: [] }))
  const transaction = JSON.stringify([schema.name, ...operations])
  const answer = numbersAsText(
    await database.run('ovsdb-client', 'transact', database.server.socket, transaction),
  )
  const tables = Object.keys(schema.tables)
  const results = answer as readonly { readonly rows: readonly Readonly<Record<string, unknown>>[] }[]
  return eachColumn(schema, (table, column) => elementsOf(results[tables.indexOf(table)]?.rows[0]?.[column]))
}

interface Printed {
  readonly headings: readonly string[]
  readonly data: readonly (readonly unknown[])[]
}

async function dump(database: AnyDatabase, schema: DatabaseSchema): Promise<object> {
  const output = await database.run('ovsdb-client', '-f', 'json', 'dump', database.server.socket, schema.name)
  const printed = printedTables(output) as readonly (Printed & { readonly caption: string })[]
  const byTable = new Map(printed.map((table) => [table.caption.replace(/ table$/, ''), table]))
  return eachColumn(schema, (table, column) => elementsOf(cell(byTable.get(table), column)))
}

async function nbctlList(database: AnyDatabase, schema: DatabaseSchema): Promise<object> {
  const tables = Object.keys(schema.tables)
  const commands = tables.flatMap((table) => ['--', 'list', table])
  const output = await database.run(
    'ovn-nbctl',
    `--db=${database.server.socket}`,
    '--format=json',
    ...commands,
  )
  const printed = printedTables(output) as readonly Printed[]
  return eachColumn(schema, (table, column) => elementsOf(cell(printed[tables.indexOf(table)], column)))
}

function printedTables(output: string): readonly unknown[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map(numbersAsText)
}

function cell(table: Printed | undefined, column: string): unknown {
  return table?.data[0]?.[table.headings.indexOf(column)]
}

/** Numbers by their digits, because some do not fit ours. */
function numbersAsText(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== 'number') return value
    return Number.isSafeInteger(value) || !/^-?\d+$/.test(context?.source ?? '')
      ? String(value)
      : context?.source
  })
}

function elementsOf(wire: unknown): readonly string[] {
  if (!Array.isArray(wire)) return [String(wire)]
  const [kind, content]: readonly unknown[] = wire
  if (!Array.isArray(content)) return [String(content)]
  const elements: readonly unknown[] = content
  if (kind === 'set') return elements.flatMap(elementsOf)
  return elements.map((entry) => (entry as readonly unknown[]).flatMap(elementsOf).join('='))
}

function eachColumn(
  schema: DatabaseSchema,
  read: (table: string, column: string, type: ColumnTypeSchema) => readonly string[],
): object {
  return Object.fromEntries(
    Object.keys(schema.tables).map((table) => [
      table,
      Object.fromEntries(
        columnsOf(schema, table).map(([column, type]) => [column, read(table, column, type).toSorted()]),
      ),
    ]),
  )
}
