export { ignored } from './ignored/feature.ts'
export { podPortFeature } from './pod-port/feature.ts'
export { workload } from './workload/feature.ts'
