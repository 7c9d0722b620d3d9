/**
 * Writes everything that is generated.
 *
 *     node tools/generate/src/main.ts            write
 *     node tools/generate/src/main.ts --check    exit 1 when a generated file is stale
 */
import './ovsdb/main.ts'
import './crds/main.ts'
import './errors/main.ts'
