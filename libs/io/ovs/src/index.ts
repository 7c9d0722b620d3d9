export {
  parseClusterStatus,
  type ClusterConnection,
  type ClusterServer,
  type ClusterStatus,
} from './cluster-status.ts'
export { askDaemon, controlSocketOf, type DaemonQuestion } from './control-socket.ts'
export { DaemonRefusedError, DaemonUnreachableError } from './errors.ts'
export { parseMemoryUsage } from './memory-usage.ts'
