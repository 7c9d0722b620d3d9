export { absentMetrics } from './absent-metrics.ts'
export { type Program } from './measured-metrics.ts'
export { registryOf } from './registered-metrics.ts'
export { upstreamMetrics, type UpstreamMetrics } from './upstream-metrics.ts'
