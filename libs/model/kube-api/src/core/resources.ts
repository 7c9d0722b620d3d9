import type {
  CronJob,
  ConfigMap,
  CoreEvent,
  CustomResourceDefinition,
  EndpointSlice,
  Endpoints,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  Pod,
  Service,
  ServiceCidr,
  StatefulSet,
  Workload,
} from './kinds.ts'
import type { KubeObject, Resource } from './object.ts'

/** Kubernetes' own resources that we read or write. */
export const pods: Resource<Pod> = core('Pod', 'pods', true)
export const namespaces: Resource<Namespace> = core('Namespace', 'namespaces', false)
export const nodes: Resource<Node> = core('Node', 'nodes', false)
export const services: Resource<Service> = core('Service', 'services', true)
export const endpoints: Resource<Endpoints> = core('Endpoints', 'endpoints', true)
export const configMaps: Resource<ConfigMap> = core('ConfigMap', 'configmaps', true)
export const events: Resource<CoreEvent> = core('Event', 'events', true)

export const deployments: Resource<Workload> = workload('apps', 'Deployment', 'deployments')
export const statefulSets: Resource<StatefulSet> = workload('apps', 'StatefulSet', 'statefulsets')
export const daemonSets: Resource<Workload> = workload('apps', 'DaemonSet', 'daemonsets')
export const jobs: Resource<Workload> = workload('batch', 'Job', 'jobs')
export const cronJobs: Resource<CronJob> = workload('batch', 'CronJob', 'cronjobs')

export const networkPolicies: Resource<NetworkPolicy> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
}

export const endpointSlices: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}

export const serviceCidrs: Resource<ServiceCidr> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  namespaced: false,
}

export const customResourceDefinitions: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

export const leases: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}

function core<T extends KubeObject>(kind: string, plural: string, namespaced: boolean): Resource<T> {
  return { group: '', version: 'v1', kind, plural, namespaced }
}

function workload<T extends KubeObject>(group: string, kind: string, plural: string): Resource<T> {
  return { group, version: 'v1', kind, plural, namespaced: true }
}
