export { isAlive } from './alive.ts'
export type * from './kinds.ts'
export { isObjectName } from './object-name.ts'
export type { KubeObject, ObjectMeta, OwnerReference, Resource } from './object.ts'
export {
  configMaps,
  cronJobs,
  customResourceDefinitions,
  daemonSets,
  deployments,
  endpointSlices,
  endpoints,
  events,
  jobs,
  leases,
  namespaces,
  networkPolicies,
  nodes,
  pods,
  serviceCidrs,
  services,
  statefulSets,
} from './resources.ts'
