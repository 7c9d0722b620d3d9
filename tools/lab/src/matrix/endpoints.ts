import type { Cluster } from '../cluster/cluster.ts'
import { ofStack } from '../cluster/topology.ts'
import { MatrixError } from '../errors.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'
import { addressesOfPod, isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { insidePodNetwork, namespaceOf } from '../namespaces.ts'
import type { Party } from './declaration.ts'

/** Somebody who takes part in a matrix. */
export interface Endpoint {
  /** `NAMESPACE/POD`, a node's name, `outside`, `service NAMESPACE/NAME`, or an address. */
  readonly name: string
  readonly addresses: readonly string[]
  /** Path of the network namespace; a Service or a bare address has none and can only be a target. */
  readonly netns: string | undefined
  /** Addresses of the node that it is on. */
  readonly nodeAddresses: readonly string[]
  /** The port that is meant if a rule names none. */
  readonly port?: number
  /** The ports of a Service lead to these ends. */
  readonly backends?: readonly Backend[]
  /** A pod in which the probe is asked to ask. */
  readonly pod?: { readonly namespace: string; readonly name: string }
  /** The port at which a probe, or every pod behind a Service, answers. */
  readonly probePort?: number
}

interface Backend {
  readonly netns: string
  readonly address: string
  readonly port: number
}

interface ServiceObject extends ApiObject {
  readonly spec: {
    readonly clusterIPs?: readonly string[]
    readonly ports: readonly { readonly port: number; readonly name?: string }[]
  }
}

interface SliceObject extends ApiObject {
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[]
        readonly targetRef?: { readonly uid?: string }
        readonly nodeName?: string
      }[]
    | null
  readonly ports?: readonly { readonly port?: number; readonly name?: string }[] | null
}

/**
 * Finds everybody whom a party stands for.
 *
 * @throws {MatrixError} if there is nobody
 */
export async function resolveParty(cluster: Cluster, party: Party): Promise<readonly Endpoint[]> {
  if (party === 'nodes') return cluster.nodes.map((node) => nodeEndpoint(cluster, node.name))
  if (party === 'outside') return [outsideEndpoint(cluster)]
  if ('service' in party) return [await serviceEndpoint(cluster, party)]
  if ('address' in party)
    return [
      { name: party.name ?? party.address, addresses: [party.address], netns: undefined, nodeAddresses: [] },
    ]
  return podEndpoints(cluster, party)
}

function nodeEndpoint(cluster: Cluster, name: string): Endpoint {
  const node = cluster.nodes.find((candidate) => candidate.name === name)
  if (node === undefined) throw nobody('nodes', name)
  const own = ofStack(cluster.topology.stack, node.kubernetes)
  return { name, addresses: own, netns: namespaceOf(node.place), nodeAddresses: nodeAddresses(cluster, name) }
}

function outsideEndpoint({ outside, topology }: Cluster): Endpoint {
  const addresses = ofStack(topology.stack, outside.addresses)
  return { name: 'outside', addresses, netns: namespaceOf(outside.place), nodeAddresses: [] }
}

async function podEndpoints(
  cluster: Cluster,
  party: Extract<Party, { pods: string }>,
): Promise<readonly Endpoint[]> {
  const selector = party.pods === '' ? '' : `?labelSelector=${encodeURIComponent(party.pods)}`
  const path = `/api/v1/namespaces/${party.namespace}/pods${selector}`
  const pods = (await cluster.api.list<PodObject>(path)).filter(isPodReady)
  if (pods.length === 0) throw nobody('pods', `${party.namespace} ${party.pods}`)
  return pods.map((pod) => ({
    name: `${party.namespace}/${pod.metadata.name}`,
    addresses: addressesOfPod(pod),
    netns: netnsOfPod(cluster, pod.spec.nodeName, pod.metadata.uid),
    nodeAddresses: nodeAddresses(cluster, pod.spec.nodeName),
  }))
}

/** A Service, and the pods behind it, in which listeners of ours can wait. */
async function serviceEndpoint(
  cluster: Cluster,
  party: Extract<Party, { service: string }>,
): Promise<Endpoint> {
  const { name, addresses, port, ends } = await findService(cluster.api, party)
  const backends = ends.flatMap((end) => {
    const netns = netnsOfPod(cluster, end.nodeName, end.uid) ?? netnsOfMachine(cluster, end.address)
    return netns === undefined ? [] : [{ netns, address: end.address, port: end.port }]
  })
  return { name, addresses, netns: undefined, nodeAddresses: [], backends, port }
}

/** What a port of a Service leads to. */
interface ServiceEnd {
  readonly address: string
  readonly port: number
  readonly uid: string | undefined
  readonly nodeName: string | undefined
}

/**
 * Finds a Service with the pods behind it.
 *
 * @throws {MatrixError} if it, its address or the port is missing
 */
export async function findService(
  api: ApiClient,
  party: Extract<Party, { service: string }>,
): Promise<{
  readonly name: string
  readonly addresses: readonly string[]
  readonly port: number
  readonly ends: readonly ServiceEnd[]
}> {
  const { namespace, service: name } = party
  const [services, slices] = await Promise.all([
    api.list<ServiceObject>(`/api/v1/namespaces/${namespace}/services?fieldSelector=metadata.name%3D${name}`),
    api.list<SliceObject>(
      `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${name}`,
    ),
  ])
  const [service] = services
  const addresses =
    party.addresses ?? (service?.spec.clusterIPs ?? []).filter((address) => address !== 'None')
  if (addresses.length === 0) throw nobody('service', `${namespace}/${name}`)
  const ports = service?.spec.ports ?? []
  const port = ports.find((candidate) => party.port === undefined || candidate.port === party.port)
  if (port === undefined) throw nobody('service', `${namespace}/${name} port ${party.port ?? ''}`)
  const ends = slices.flatMap(({ endpoints, ports: targets }) => {
    const target = targets?.find((candidate) => (candidate.name ?? '') === (port.name ?? ''))?.port
    return (endpoints ?? []).flatMap(({ addresses: [address], targetRef, nodeName }) =>
      target === undefined || address === undefined
        ? []
        : [{ address, port: target, uid: targetRef?.uid, nodeName }],
    )
  })
  return { name: `service ${namespace}/${name}`, addresses, port: port.port, ends }
}

function netnsOfPod(
  cluster: Cluster,
  nodeName: string | undefined,
  uid: string | undefined,
): string | undefined {
  const node = cluster.nodes.find(({ name }) => name === nodeName)
  const place = node && insidePodNetwork(node.container, uid ?? '')
  return place && namespaceOf(place)
}

/** That of a node, or of the outside host, where one of them is behind a Service. */
function netnsOfMachine(cluster: Cluster, address: string): string | undefined {
  const { outside, nodes } = cluster
  if (Object.values(outside.addresses).includes(address)) return namespaceOf(outside.place)
  const node = nodes.find(({ name }) => nodeAddresses(cluster, name).includes(address))
  return node && namespaceOf(node.place)
}

function nodeAddresses(cluster: Cluster, name: string | undefined): readonly string[] {
  const node = cluster.nodes.find((candidate) => candidate.name === name)
  if (node === undefined) return []
  return [node.kubernetes, node.tunnel, node.physical].flatMap((pair) =>
    ofStack(cluster.topology.stack, pair),
  )
}

export function nobody(field: string, value: string): MatrixError {
  const cure = 'name pods that are Ready, or a Service with an address'
  return new MatrixError('a connectivity matrix names nobody', { field, value, cure })
}
