export { Registry } from 'prom-client'
export {
  kernelMetrics,
  type KernelGauges,
  type KernelMetrics,
  type ReconcileResult,
} from './kernel-metrics.ts'
export { processRegistry } from './process-metrics.ts'
