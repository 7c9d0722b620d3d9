/**
 * Draws the derived tables of the controller from their declarations.
 *
 *     node tools/generate/src/tables/main.ts            write
 *     node tools/generate/src/tables/main.ts --check    exit 1 when the picture is stale
 */
import { controlTables } from '@kube-ovn/domains-control'
import { Tables } from '@kube-ovn/tables'
import { writeGenerated } from '../generated-file.ts'
import { drawTables } from './picture.ts'

const { declarations } = new Tables({ tables: controlTables, onDefect: () => undefined })
const picture = drawTables(declarations, 'Which tables of the controller are made from which')
writeGenerated('tables', 'docs/public/tables.svg', picture)
