/**
 * Builds bundles and executables into `dist/programs`, without container images.
 *
 *     npm run build
 */
import { buildPrograms } from './build-programs.ts'

await buildPrograms()
