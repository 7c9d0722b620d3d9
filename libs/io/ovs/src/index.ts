export {
  parseClusterStatus,
  type ClusterConnection,
  type ClusterServer,
  type ClusterStatus,
} from './cluster-status.ts'
export { askDaemon, controlSocketOf, type DaemonQuestion } from './control-socket.ts'
export { parseCoverage } from './coverage.ts'
export { parseDatapaths, type Datapath, type DatapathPort } from './datapath.ts'
export { DaemonRefusedError, DaemonUnreachableError } from './errors.ts'
export { MacTables, type MacEntry } from './mac-table.ts'
export { parseMemoryUsage } from './memory-usage.ts'
export { BridgeConnection, type Cookies, type FlowChange } from './openflow/bridge-connection.ts'
export { flowOf, type Flow, type LeadingFlow } from './openflow/flow.ts'
