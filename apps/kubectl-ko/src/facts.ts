import {
  daemonSets,
  deployments,
  KubeNotFoundError,
  leases,
  listAll,
  nodes,
  pods,
  services,
  type KubeObject,
  type Lease,
  type Node,
  type Pod,
  type Resource,
  type Service,
} from '@kube-ovn/kube'
import {
  ipResource,
  subnetResource,
  vipResource,
  vpcResource,
  type Ip,
  type Subnet,
  type Vip,
  type Vpc,
} from '@kube-ovn/kube-api'
import type { Cluster } from './cluster.ts'
import { readControllerState, type ControllerState } from './controller-state.ts'

/** A Deployment or DaemonSet, as far as it tells of its pods. */
export interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly readyReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly numberReady?: number
  }
}

const pageSize = 500

/** All objects of a kind; none where the kind is not served. */
export async function readAll<T extends KubeObject>(
  { client }: Cluster,
  resource: Resource<T>,
  selection: { readonly namespace?: string } = {},
): Promise<readonly T[]> {
  try {
    return (await listAll(client, resource, { limit: pageSize, ...selection })).items
  } catch (error) {
    if (error instanceof KubeNotFoundError) return []
    throw error
  }
}

/** What the state of the whole is told from. */
export interface ClusterFacts {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly workloads: readonly Workload[]
  readonly lease: Lease | undefined
  readonly subnets: readonly Subnet[]
  readonly vpcs: readonly Vpc[]
  /** None where it can not, or may not, be asked. */
  readonly controller: ControllerState | undefined
  /** Namespace of the components. */
  readonly namespace: string
}

export async function readFacts(cluster: Cluster): Promise<ClusterFacts> {
  const { namespace, client } = cluster
  const [nodeList, podList, deploymentList, daemonSetList, lease, subnets, vpcs, controller] =
    await Promise.all([
      readAll(cluster, nodes),
      readAll(cluster, pods),
      readAll(cluster, deployments as Resource<Workload>, { namespace }),
      readAll(cluster, daemonSets as Resource<Workload>, { namespace }),
      client.get(leases, { namespace, name: 'kube-ovn-controller' }),
      readAll(cluster, subnetResource),
      readAll(cluster, vpcResource),
      readControllerState(cluster),
    ])
  const workloads = [...deploymentList, ...daemonSetList]
  return { nodes: nodeList, pods: podList, workloads, lease, subnets, vpcs, controller, namespace }
}

/** VPCs and what is in them. */
export async function readTopology(
  cluster: Cluster,
): Promise<{ readonly vpcs: readonly Vpc[]; readonly subnets: readonly Subnet[] }> {
  const [vpcs, subnets] = await Promise.all([readAll(cluster, vpcResource), readAll(cluster, subnetResource)])
  return { vpcs, subnets }
}

/** What says who has which address. */
export interface AddressFacts {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly services: readonly Service[]
  readonly subnets: readonly Subnet[]
  readonly ips: readonly Ip[]
  readonly vips: readonly Vip[]
}

export async function readAddressFacts(cluster: Cluster): Promise<AddressFacts> {
  const [nodeList, podList, serviceList, subnets, ips, vips] = await Promise.all([
    readAll(cluster, nodes),
    readAll(cluster, pods),
    readAll(cluster, services),
    readAll(cluster, subnetResource),
    readAll(cluster, ipResource),
    readAll(cluster, vipResource),
  ])
  return { nodes: nodeList, pods: podList, services: serviceList, subnets, ips, vips }
}
