/**
 * Draws the derived tables of the controller from their declarations.
 *
 *     node tools/generate/src/tables/main.ts            write
 *     node tools/generate/src/tables/main.ts --check    exit 1 when the picture is stale
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlTables } from '@kube-ovn/domains-control'
import { Tables } from '@kube-ovn/tables'
import { flags } from '../flags.ts'
import { drawTables } from './picture.ts'

const path = 'docs/public/tables.svg'
const file = join(import.meta.dirname, '../../../..', path)

const { declarations } = new Tables({ tables: controlTables, onDefect: () => undefined })
const wanted = drawTables(declarations, 'Which tables of the controller are made from which')
if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
  if (flags.check) {
    console.error(`${path} is stale: run node tools/generate/src/tables/main.ts`)
    process.exitCode = 1
  } else {
    writeFileSync(file, wanted)
    console.log(`${path} written`)
  }
}
