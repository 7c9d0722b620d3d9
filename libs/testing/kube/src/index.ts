export { type ApiFault, type RequestKind } from './api-fault.ts'
export { ApiProxy, type ApiProxyOptions } from './api-proxy.ts'
export type { ApiWrite } from './audit-log.ts'
export { cacheDirectory } from './cache-directory.ts'
export {
  lintChart,
  renderChart,
  renderNotes,
  renderNotesOn,
  type ChartCluster,
  type ChartObject,
} from './chart.ts'
export { applyDefinitions, chartCrds, foreignCrds, readDefinitions } from './crds.ts'
export { FixtureError } from './errors.ts'
export type { CertificatePaths, KubeApi, KubeApiOptions } from './kube-api.ts'
export { sharedKubeApi, startKubeApi } from './start-kube-api.ts'
export type { TcpProxy } from './tcp-proxy.ts'
