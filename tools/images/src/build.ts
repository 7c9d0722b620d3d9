/**
 * Builds bundles and executables into `dist/programs`, without container images.
 *
 *     npm run build
 *     npm run build -- --executables --url https://example.com/releases/v1    # kubectl-ko for every platform, into dist/executables
 */
import { parseArgs } from 'node:util'
import { buildPrograms } from './build-programs.ts'
import { buildExecutables } from './executables.ts'

const { values } = parseArgs({
  options: { executables: { type: 'boolean', default: false }, url: { type: 'string', default: '' } },
})
await buildPrograms()
if (values.executables) await buildExecutables(values.url)
