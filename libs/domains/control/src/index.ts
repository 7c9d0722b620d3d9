export {
  definitionInformers,
  followDefinitions,
  watchedDefinitions,
  type Definitions,
} from './definitions.ts'
export { withOurFinalizer, withoutOurFinalizer } from './finalizers.ts'
export { flagsOf } from './flags.ts'
export { generationAfter, observedOf, type Observed } from './generation.ts'
export { ignoredEvents, withIgnored } from './ignored-condition.ts'
export { createWorld, forkWorld } from './live-world.ts'
export { externalIds, memberOf, ref } from './rows.ts'
export type { BuiltInSubnet, ControlSettings } from './settings.ts'
export { controlTables, deriveTables } from './tables.ts'
export { domains } from './domains.ts'
export {
  mergeDeclarations,
  type ControlFeature,
  type Declarations,
  type Right,
  type Watch,
} from './declarations.ts'
export { Stores } from './stores.ts'
export { trimCronJob, trimWorkload } from './trim.ts'
export { watched } from './watched.ts'
export {
  storeIndex,
  type AllocatingWorld,
  type ControlWorld,
  type WatchedKinds,
  type WatchedStores,
} from './world.ts'
