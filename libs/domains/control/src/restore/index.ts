export { restoreLeasesOf } from './leases.ts'
export { restoreWorld } from './restore-world.ts'
