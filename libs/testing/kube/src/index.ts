export { type ApiFault, type RequestKind } from './api-fault.ts'
export { ApiProxy, type ApiProxyOptions } from './api-proxy.ts'
export type { ApiWrite } from './audit-log.ts'
export { renderChart, type ChartObject } from './chart.ts'
export { foreignCrds } from './crds.ts'
export { FixtureError } from './errors.ts'
export {
  sharedKubeApi,
  startKubeApi,
  type CertificatePaths,
  type KubeApi,
  type KubeApiOptions,
} from './kube-api.ts'
export type { TcpProxy } from './tcp-proxy.ts'
