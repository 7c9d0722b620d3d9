export type * from './kinds.ts'
export type { KubeObject, ObjectMeta, OwnerReference, Resource } from './object.ts'
export {
  configMaps,
  endpointSlices,
  endpoints,
  events,
  leases,
  namespaces,
  nodes,
  pods,
  serviceCidrs,
  services,
} from './resources.ts'
