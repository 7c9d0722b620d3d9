export { createBenchNamespace } from './bench-lab.ts'
export { measurePodCosts, type Cost, type PodCosts } from './pod-cost.ts'
