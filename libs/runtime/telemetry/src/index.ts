export { Registry } from 'prom-client'
export { addressAuditMetrics, type AddressAuditMetrics, type AuditOutcome } from './address-audit-metrics.ts'
export { agentMetrics, type AddTimings, type AgentMetrics } from './agent-metrics.ts'
export { databaseMetrics, type DatabaseMetrics } from './database-metrics.ts'
export {
  kernelMetrics,
  type KernelGauges,
  type KernelMetrics,
  type ReconcileResult,
} from './kernel-metrics.ts'
export { leaderMetrics } from './leader-metrics.ts'
export { logMetrics } from './log-metrics.ts'
export { processRegistry } from './process-metrics.ts'
