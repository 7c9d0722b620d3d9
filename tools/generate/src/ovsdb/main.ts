/**
 * Writes the row types of `libs/model/ovsdb-schema` from its .ovsschema files.
 *
 *     node tools/generate/src/ovsdb/main.ts            write
 *     node tools/generate/src/ovsdb/main.ts --check    exit 1 when a generated file is stale
 *     node tools/generate/src/ovsdb/main.ts --fetch    take the .ovsschema files from Debian's packages first
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { flags } from '../flags.ts'
import { formatted, root, writeGenerated } from '../generated-file.ts'
import { databases } from './databases.ts'
import { fetchPackagedSchemas } from './fetch.ts'
import { renderDatabase, type Schema } from './render.ts'

const library = 'libs/model/ovsdb-schema'
const schemas = join(root, library, 'schemas')

if (flags.fetch) await fetchPackagedSchemas(databases, schemas)

for (const source of databases) {
  const schema = JSON.parse(await readFile(join(schemas, source.schemaFile), 'utf8')) as Schema
  const path = `${library}/src/generated/${source.outputFile}`
  writeGenerated('ovsdb', path, await formatted(path, renderDatabase(source, schema)))
}
