export { Registry } from 'prom-client'
export { addressAuditMetrics, type AddressAuditMetrics, type AuditOutcome } from './address-audit-metrics.ts'
export { agentMetrics, type AddTimings, type AgentMetrics } from './agent-metrics.ts'
export { clientMetrics, type AnsweredRequest } from './client-metrics.ts'
export { databaseMetrics, type DatabaseMetrics } from './database-metrics.ts'
export { FileSizes } from './file-sizes.ts'
export { fragmentMetrics, type FragmentMetrics } from './fragment-metrics.ts'
export { kernelMetrics, type KernelMetrics } from './kernel-metrics.ts'
export { leaderMetrics } from './leader-metrics.ts'
export { logMetrics } from './log-metrics.ts'
export {
  monitorMetrics,
  type DaemonReading,
  type DatabaseReading,
  type Contradictions,
  type MonitorReading,
  type NorthboundReading,
  type SouthboundReading,
  type SwitchPortReading,
} from './monitor-metrics.ts'
export { pageOf } from './page.ts'
export { nodeParameterMetrics, type NodeParameters } from './node-parameter-metrics.ts'
export {
  pingerMetrics,
  type PingedKind,
  type PingedTarget,
  type PingerHealth,
  type PingerMetrics,
  type TriedPort,
} from './pinger-metrics.ts'
export { processRegistry } from './process-metrics.ts'
export { Sources } from './sources.ts'
export { subnetMetrics, type SubnetReading } from './subnet-metrics.ts'
export { speakerMetrics, type SpeakerPeer } from './speaker-metrics.ts'
export {
  vswitchMetrics,
  type InterfaceReading,
  type VswitchReading,
  type VswitchSystem,
} from './vswitch-metrics.ts'
export type { KernelGauges, QueueMetrics, ReconcileResult } from './queue-metrics.ts'
