/**
 * Writes everything that is generated.
 *
 *     npm run generate                          write what is stale
 *     npm run generate -- --check               exit 1 when a generated file is stale
 *     npm run generate -- --fetch               take the .ovsschema files from Debian's packages first (Docker)
 *
 * Begins something new, and writes what follows from it:
 *
 *     npm run generate -- feature AREA/NAME     a feature of the controller
 *     npm run generate -- app NAME              a program
 *     npm run generate -- resource NAME         a custom resource
 */
import { request } from './flags.ts'
import { beginSkeleton } from './skeleton/begin.ts'

if (request.length > 0) for (const line of await beginSkeleton(request)) console.log(line)

// Only now: they read what was begun.
await import('./ovsdb/main.ts')
await import('./crds/main.ts')
await import('./rights/main.ts')
await import('./errors/main.ts')
await import('./no-effect/main.ts')
await import('./tables/main.ts')
await import('./tiers/main.ts')
await import('./dashboards/main.ts')
await import('./kubectl-ko/main.ts')
