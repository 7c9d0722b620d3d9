import type { Needs } from './declarations.ts'
import { controlTables } from './tables.ts'
import { watched } from './watched.ts'

/** What the domains need, as if they were a feature. */
export const domains: Needs & { readonly name: string } = {
  name: 'domains',
  watches: Object.values(watched),
  tables: controlTables,
  lookups: [
    { table: 'NB_Global', indexes: [] },
    { table: 'Logical_Router_Port', indexes: ['name'] },
    { table: 'Logical_Switch_Port', indexes: ['name'] },
  ],
}
