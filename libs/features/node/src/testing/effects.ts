import {
  podAnnotations,
  readNicQos,
  readNodeNetwork,
  readProviderNetworkRequest,
  type Annotations,
} from '@kube-ovn/annotations'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import { takesPart, type ProviderNetwork, type Subnet } from '@kube-ovn/kube-api'
import { IndexedStore, objectKey, type KubeObject } from '@kube-ovn/kube'
import type { HostLink } from '../host-links.ts'
import { readAllocation, readDelegatedAllocation, type Allocation } from '../pod-nic/allocation.ts'
import { desiredAttachment } from '../pod-nic/desired.ts'
import type { AttachmentRequest } from '../pod-nic/snapshot.ts'
import { desiredQos } from '../port-qos/desired.ts'
import { connectionNames, vlansOf } from '../provider-networks/desired.ts'
import { ProviderNetworkInvalidError } from '../provider-networks/errors.ts'
import { natOutgoingPrefixes, reachedPrefixes, readSubnetFacts, routedPrefixes } from '../subnet-facts.ts'
import { desiredTunnel } from '../tunnels/desired.ts'
import { observeTunnel } from '../tunnels/observe.ts'
import type { TunnelSettings } from '../tunnels/snapshot.ts'

/** What a node goes by: the objects as the controller leaves them. */
export interface NodeObjects {
  readonly subnets: readonly Subnet[]
  readonly pods: readonly Pod[]
  readonly networks: readonly ProviderNetwork[]
  /** The node itself. */
  readonly node: Node
}

/** Computes everything that a node makes of some objects. */
export function nodeEffects({ subnets, pods, networks, node }: NodeObjects): readonly unknown[] {
  const facts = subnets.flatMap((subnet) => readSubnetFacts(subnet, 'ovn-cluster') ?? [])
  const stores = {
    ...{ pods: storeOf(pods), subnets: storeOf(subnets) },
    labels: node.metadata.labels ?? {},
  }
  return [
    {
      reached: reachedPrefixes(facts),
      routed: routedPrefixes(facts),
      natOutgoing: natOutgoingPrefixes(facts),
    },
    readNodeNetwork(node.metadata.annotations),
    qosOfNic(node.metadata.annotations),
    ...networks.map((network) => connection(network, node)),
    desiredTunnel(observeTunnel(tunnelSettings, node, stillLinks, []).snapshot),
    ...pods.flatMap((pod) => [
      qosOfNic(pod.metadata.annotations),
      podAnnotations().mirror.read(pod.metadata.annotations),
      attachment(readAllocation(requestOf(pod, 'ovn', 'eth0'), stores, false), pod),
      ...delegatedProviders(subnets).map((provider) =>
        readDelegatedAllocation(requestOf(pod, provider, 'net1'), stores, false),
      ),
    ]),
  ]
}

function qosOfNic(annotations: Annotations | undefined): unknown {
  const { policing, shaping, problem } = desiredQos(readNicQos(annotations), {
    pod: '',
    keyOf: (name) => name,
  })
  return { policing, shaping, problem: problem?.details }
}

function connection(network: ProviderNetwork, node: Node): unknown {
  const { isExcluded } = readProviderNetworkRequest(network.metadata.name, node.metadata.annotations)
  if (!takesPart(network, { ...node.metadata, isExcluded })) return undefined
  try {
    const names = connectionNames(network, node.metadata)
    return { ...names, ...vlansOf(network, names) }
  } catch (error) {
    if (error instanceof ProviderNetworkInvalidError) return error.details
    throw error
  }
}

function storeOf<T extends KubeObject>(objects: readonly T[]): IndexedStore<T> {
  const store = new IndexedStore<T>()
  for (const object of objects) store.put(objectKey(object), object)
  return store
}

function delegatedProviders(subnets: readonly Subnet[]): readonly string[] {
  return subnets.flatMap(({ spec }) =>
    spec?.provider === undefined || spec.provider.split('.').includes('ovn') ? [] : [spec.provider],
  )
}

function requestOf(pod: Pod, provider: string, ifName: string): AttachmentRequest {
  const { namespace = '', name } = pod.metadata
  return {
    ...{ podNamespace: namespace, podName: name, podUid: '', containerId: 'c1', ifName, provider },
    ...{ netns: '/run/netns/a', network: 'kube-ovn', routes: [] },
  }
}

function attachment(found: ReturnType<typeof readAllocation>, pod: Pod): unknown {
  if ('reason' in found) return found
  const { holder, mac, addresses, mtu, ownsDefaultRoute, provider, routes }: Allocation = found
  const wanted = desiredAttachment({
    ...{ request: requestOf(pod, 'ovn', 'eth0'), holder, hostName: 'a_h', mac, addresses, mtu },
    ...{ hasUserspaceDatapath: false, ownsDefaultRoute, provider, routes },
  })
  return { ...wanted, gateways: found.physicalGateways }
}

const tunnelSettings: TunnelSettings = {
  networkType: 'geneve',
  ...{ mtu: 0, iface: '', dpdkTunnelIface: 'br-phy', acceptsHostMasks: false },
  ...{ hasEncapChecksum: true, podIp: '' },
}

/** A machine with two NICs, the first of which has the node's address, and a bridge. */
const stillLinks: readonly HostLink[] = [
  { name: 'eth0', address: '172.18.0.11/16' },
  { name: 'eth1', address: '192.168.0.11/16' },
  { name: 'br-phy', address: '192.168.1.11/24' },
].map(({ name, address }, index) => ({
  ...{ index: index + 1, name, mtu: 1500, addresses: [address], preferredSources: [] },
  defaultRoutes: index === 0 ? ['ipv4'] : [],
}))
