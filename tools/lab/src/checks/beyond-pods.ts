import { ofStack, type AddressPair } from '../cluster/topology.ts'
import { physicalInterface } from '../cluster/physical-network.ts'
import { insideContainer, runAt } from '../namespaces.ts'
import { askSourceAddress } from '../probe/tcp.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import {
  countRow,
  familyOf,
  firstOf,
  happensRow,
  nodeOf,
  placeOf,
  type Check,
  type CheckRow,
} from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import { reachedRow } from './reached-row.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

const outsidePort = 8080

interface SubnetObject extends ApiObject {
  readonly spec: { readonly gateway: string; readonly cidrBlock: string }
}

/** What a pod reaches beside other pods: its gateway, the nodes, the world outside, with and without NAT. */
export const beyondPods: Check = {
  name: 'gateway, nodes, outside',
  async run(cluster) {
    const pods = await sixPods(cluster)
    return [
      ...(await gatewayRows(cluster, pods)),
      ...(await nodeRows(cluster, pods)),
      ...(await outsideRows(cluster, pods)),
      ...(await isolationRows(cluster)),
    ]
  },
}

async function gatewayRows(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow[]> {
  const asking = await Promise.all(
    pods.map(async (pod) => {
      const subnet = await cluster.api.call<SubnetObject>(
        'GET',
        `/apis/kubeovn.io/v1/subnets/${pod.metadata.namespace ?? ''}`,
      )
      return { from: placeOf(cluster, pod), targets: subnet.spec.gateway.split(',') }
    }),
  )
  return [await reachedRow('pod to its gateway', asking)]
}

async function nodeRows(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow[]> {
  const { stack } = cluster.topology
  const addresses = pods.flatMap(addressesOfPod)
  const ofNodes = cluster.nodes.flatMap((node) => ofStack(stack, node.kubernetes))
  const devices = await Promise.all(
    cluster.nodes.flatMap((node) => addresses.map((address) => routeDevice(node, address))),
  )
  return [
    await reachedRow(
      'node to pod',
      cluster.nodes.map(({ place }) => ({ from: place, targets: addresses })),
    ),
    await reachedRow(
      'pod to node',
      pods.map((pod) => ({ from: placeOf(cluster, pod), targets: ofNodes })),
    ),
    countRow(
      'node to pod leaves by ovn0',
      devices.filter((device) => device === 'ovn0').length,
      devices.length,
    ),
  ]
}

async function routeDevice(node: LabNode, address: string): Promise<string | undefined> {
  const routes = JSON.parse(await runAt(node.place, ['ip', '-json', 'route', 'get', address])) as {
    dev?: string
  }[]
  return routes[0]?.dev
}

async function outsideRows(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow[]> {
  const pod = firstOf(
    pods.filter(({ metadata }) => metadata.namespace === 'stock'),
    'pod in subnet stock',
  )
  const withNat = await sourceRows(
    cluster,
    pod,
    "to outside with the node's address",
    ownAddresses(nodeOf(cluster, pod)),
  )
  await cluster.api.mergePatch('/apis/kubeovn.io/v1/subnets/stock', { spec: { natOutgoing: false } })
  const unrouted = await routeBack(cluster, pod)
  const withoutNat = await sourceRows(
    cluster,
    pod,
    "to outside with the pod's address once natOutgoing is off",
    addressesOfPod(pod),
  )
  const byRules = await ruleRows(cluster, pod)
  await unrouted()
  return [...withNat, ...withoutNat, ...byRules, ...(await gatewayNodeRows(cluster, pod))]
}

/** A centralized gateway on another node than the pod's, which is distributed again after it. */
async function gatewayNodeRows(cluster: Cluster, pod: PodObject): Promise<CheckRow[]> {
  const own = nodeOf(cluster, pod)
  const other = firstOf(
    cluster.nodes.filter(({ name }) => name !== own.name),
    'node without the pod',
  )
  const edit = (spec: object): Promise<unknown> =>
    cluster.api.mergePatch('/apis/kubeovn.io/v1/subnets/stock', { spec })
  await edit({ gatewayType: 'centralized', gatewayNode: other.name })
  const byOther = await sourceRows(
    cluster,
    pod,
    "to outside with the gateway node's address",
    ownAddresses(other),
  )
  const addresses = await extraAddresses(cluster, other, 'add')
  await edit({ gatewayNode: addresses.map((address) => `${other.name}:${address}`).join() })
  const fixed = await sourceRows(cluster, pod, "to outside with the subnet's own address there", addresses)
  await edit({ gatewayNode: `${own.name},${other.name}`, enableEcmp: true })
  const shared = await sourceRows(cluster, pod, 'to outside by one of two gateway nodes', [
    ...ownAddresses(own),
    ...ownAddresses(other),
  ])
  await edit({ gatewayType: 'distributed', gatewayNode: null, enableEcmp: null })
  await extraAddresses(cluster, other, 'del')
  const back = await sourceRows(cluster, pod, 'to outside by its own node again', ownAddresses(own))
  return [...byOther, ...fixed, ...shared, ...back]
}

/** Gives a node further addresses of the network in which the outside host is, or takes them away. */
async function extraAddresses(
  cluster: Cluster,
  { place, physical }: LabNode,
  verb: 'add' | 'del',
): Promise<readonly string[]> {
  const addresses = ofStack(cluster.topology.stack, {
    ipv4: physical.ipv4.replace(/\d+$/, '250'),
    ipv6: `${physical.ipv6.replace(/[0-9a-f]*$/, '')}fa`,
  })
  for (const address of addresses) {
    const isIpv6 = familyOf(address) === 'IPv6'
    const prefix = `${address}/${isIpv6 ? 128 : 32}`
    await runAt(place, [
      'ip',
      'address',
      verb,
      prefix,
      'dev',
      physicalInterface,
      ...(isIpv6 && verb === 'add' ? ['nodad'] : []),
    ])
  }
  return addresses
}

/** Exceptions to natOutgoing, which is on again after it. */
async function ruleRows(cluster: Cluster, pod: PodObject): Promise<CheckRow[]> {
  const edit = (natOutgoingPolicyRules: readonly object[] | null): Promise<unknown> =>
    cluster.api.mergePatch('/apis/kubeovn.io/v1/subnets/stock', {
      spec: { natOutgoing: true, natOutgoingPolicyRules },
    })
  const forward = ofStack(cluster.topology.stack, cluster.outside.addresses).map((dstIPs) => ({
    action: 'forward',
    match: { dstIPs },
  }))
  const nat = addressesOfPod(pod).map((srcIPs) => ({ action: 'nat', match: { srcIPs } }))
  await edit(null)
  const translatedAgain = await sourceRows(
    cluster,
    pod,
    "to outside with the node's address once natOutgoing is on again",
    ownAddresses(nodeOf(cluster, pod)),
  )
  await edit(forward)
  const forwarded = await sourceRows(
    cluster,
    pod,
    "to outside with the pod's address by a rule",
    addressesOfPod(pod),
  )
  await edit([...nat, ...forward])
  const translated = await sourceRows(
    cluster,
    pod,
    "to outside with the node's address by the first rule of two",
    ownAddresses(nodeOf(cluster, pod)),
  )
  await edit(null)
  return [...translatedAgain, ...forwarded, ...translated]
}

function ownAddresses({ kubernetes, physical }: LabNode): string[] {
  return [kubernetes, physical].flatMap((pair: AddressPair) => [pair.ipv4, pair.ipv6])
}

/** Asks the outside host, over each family, which address the pod comes from; a change of NAT may take a moment. */
function sourceRows(
  cluster: Cluster,
  pod: PodObject,
  name: string,
  wanted: readonly string[],
): Promise<CheckRow[]> {
  const targets = ofStack(cluster.topology.stack, cluster.outside.addresses)
  return Promise.all(
    targets.map((target) => {
      const expected = wanted.filter((address) => familyOf(address) === familyOf(target))
      return happensRow(`pod ${name}, ${familyOf(target)}`, expected.join(' or '), () =>
        untilSeenAs(expected, () => askSourceAddress(placeOf(cluster, pod), target, outsidePort)),
      )
    }),
  )
}

function untilSeenAs(expected: readonly string[], ask: () => Promise<string | undefined>): Promise<string> {
  let last: string | undefined
  return eventually(
    `the outside host sees ${expected.join(' or ')}`,
    async () => {
      last = await ask()
      return last !== undefined && expected.includes(last) ? last : undefined
    },
    { seen: () => last ?? 'no answer' },
  )
}

/** Without NAT the outside world must know the way to a pod: through its node. */
export async function routeBack(cluster: Cluster, pod: PodObject): Promise<() => Promise<void>> {
  const { physical } = nodeOf(cluster, pod)
  const routes = addressesOfPod(pod).map((address) => [
    address,
    familyOf(address) === 'IPv4' ? physical.ipv4 : physical.ipv6,
  ])
  const change = (verb: 'add' | 'del'): Promise<string> =>
    runAt(cluster.outside.place, ['ip', '-batch', '-'], {
      input: routes.map(([address, gateway]) => `route ${verb} ${address} via ${gateway}\n`).join(''),
    })
  await change('add')
  return async () => {
    await change('del')
  }
}

/** No packet of the lab may leave the machine: the outside host, where every default route ends, leads nowhere. */
async function isolationRows(cluster: Cluster): Promise<CheckRow[]> {
  const [links, ...defaults] = await Promise.all([
    runAt(cluster.outside.place, ['ip', '-json', 'link']),
    ...['-4', '-6'].map((family) => runAt(cluster.outside.place, ['ip', family, 'route', 'show', 'default'])),
  ])
  const foreign = (JSON.parse(links) as { ifname: string }[]).filter(
    ({ ifname }) => !/^(lo|br0|control|node-\d+)$/.test(ifname),
  )
  const nodeDefaults = await Promise.all(
    [insideContainer(cluster.control), ...cluster.nodes.map(({ place }) => place)].flatMap((place) =>
      ['-4', '-6'].map(async (family) => runAt(place, ['ip', family, 'route', 'show', 'default'])),
    ),
  )
  const astray = nodeDefaults.filter((route) => route.trim() !== '' && !route.includes('dev phys0'))
  const isClosed = foreign.length === 0 && defaults.every((route) => route === '') && astray.length === 0
  return [
    {
      name: 'an address without a route stays in the lab',
      expected: 'no way out',
      seen: isClosed ? 'no way out' : JSON.stringify({ foreign, defaults, astray }),
      isOk: isClosed,
    },
  ]
}
