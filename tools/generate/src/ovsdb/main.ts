/**
 * Writes the row types of `libs/model/ovsdb-schema` from its .ovsschema files.
 *
 *     node tools/generate/src/ovsdb/main.ts            write
 *     node tools/generate/src/ovsdb/main.ts --check    exit 1 when a generated file is stale
 *     node tools/generate/src/ovsdb/main.ts --fetch    take the .ovsschema files from Debian's packages first
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { databases, type SchemaSource } from './databases.ts'
import { fetchPackagedSchemas } from './fetch.ts'
import { renderDatabase, type Schema } from './render.ts'
import { flags } from '../flags.ts'

const library = join(import.meta.dirname, '../../../../libs/model/ovsdb-schema')

if (flags.fetch) await fetchPackagedSchemas(databases, join(library, 'schemas'))

for (const source of databases) {
  const path = join(library, 'src/generated', source.outputFile)
  const wanted = await generate(source, path)
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (wanted === present) continue
  if (flags.check) {
    console.error(`${path} is stale: run node tools/generate/src/ovsdb/main.ts`)
    process.exitCode = 1
  } else {
    await writeFile(path, wanted)
    console.log(`${path} written`)
  }
}

async function generate(source: SchemaSource, path: string): Promise<string> {
  const schema = JSON.parse(await readFile(join(library, 'schemas', source.schemaFile), 'utf8')) as Schema
  const style = (await resolveConfig(path)) ?? {}
  return format(renderDatabase(source, schema), { ...style, parser: 'typescript' })
}
