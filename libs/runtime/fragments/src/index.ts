export { FragmentConflictError, InvalidFragmentError, NextHopUnreachableError } from './errors.ts'
export { contribution, type Answer, type Contribution, type NodeFeature } from './feature.ts'
export { FragmentKernel, type FragmentKernelOptions, type SinkChanges } from './kernel.ts'
export { mergeEntries, type MergedEntries } from './merge-entries.ts'
export { isOwnTable, nftables, NftablesSink } from './nftables-sink.ts'
export { policyRoutes, PolicyRouteSink, type PolicyRoutes } from './policy-route-sink.ts'
export { judgeProbation, type Probation, type Verdict } from './probation.ts'
export { fingerprintOf, ProbationFiles } from './probation-files.ts'
export { linkRoutes, RouteSink, type LinkRoutes } from './route-sink.ts'
export {
  nothingToDo,
  type Claim,
  type Owner,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from './sink.ts'
export type { NodeSource } from './sources.ts'
export { sysctls, SysctlSink, type SysctlAccess } from './sysctl-sink.ts'
export { writeEach } from './write-each.ts'
