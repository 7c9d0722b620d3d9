/**
 * Writes everything that is generated.
 *
 *     npm run generate               write what is stale
 *     npm run generate -- --check    exit 1 when a generated file is stale
 *     npm run generate -- --fetch    take the .ovsschema files from Debian's packages first (Docker)
 */
import './ovsdb/main.ts'
import './crds/main.ts'
import './errors/main.ts'
import './no-effect/main.ts'
import './tables/main.ts'
