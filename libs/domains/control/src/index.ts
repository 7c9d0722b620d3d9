export {
  definitionInformers,
  followDefinitions,
  watchedDefinitions,
  type Definitions,
} from './definitions.ts'
export { withOurFinalizer, withoutOurFinalizer } from './finalizers.ts'
export { flagsOf } from './flags.ts'
export { generationAfter, observedOf, type Observed } from './generation.ts'
export { complaintEvents, withComplaints, type Complaint } from './complaints.ts'
export { ignoredEvents, withIgnored } from './ignored-condition.ts'
export { createWorld, forkWorld, withStores } from './live-world.ts'
export { externalIds, isNamedAfter, isNamedAfterGroup, memberOf, ref } from './rows.ts'
export type { BuiltInSubnet, ControlSettings, DefaultUnderlay } from './settings.ts'
export { controlTables, deriveTables } from './tables.ts'
export { domains } from './domains.ts'
export { mergeDeclarations, type Declarations, type Right, type Watch } from './declarations.ts'
export { Stores } from './stores.ts'
export {
  clusterDns,
  isOfVpcDns,
  natConfig,
  trimCronJob,
  trimDeployment,
  trimWorkload,
  vpcDnsConfig,
} from './trim.ts'
export { watched } from './watched.ts'
export { storeIndex, type WatchedKinds, type WatchedStores } from './watched-kinds.ts'
export type { ControlFeature } from './control-feature.ts'
export type { AllocatingWorld, ControlWorld } from './world.ts'
