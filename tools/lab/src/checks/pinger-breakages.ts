import { chartNamespace } from '../chart.ts'
import { ofStack, worldAddress } from '../cluster/topology.ts'
import { dropPackets } from '../faults/dropped-packets.ts'
import { injectFault } from '../faults/inject.ts'
import { addOddFlows, addStrayInterface } from '../faults/vswitch.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import { runAt } from '../namespaces.ts'
import { samplesOf } from '../observe/metrics.ts'
import { loadBalancerVips, ovnCentral } from '../observe/northbound.ts'
import { nodeOf, placeOf } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { PingerPage } from './pinger-pages.ts'

/** Where agents and pingers answer those who try ports. */
const tcpPort = 8100
const udpPort = 8101

/** Things that are broken at the same time around one pinger, and the checks that fail by that and by nothing else. */
export interface Breakage {
  readonly what: string
  /** On the node itself. */
  readonly fails: readonly string[]
  /** On all other nodes. */
  readonly failsElsewhere: readonly string[]
  /** For a job on the node, which knows nothing of before; the same as on the node when it is not said. */
  readonly failsInJob?: readonly string[]
  /** What metrics show beside the checks' own. */
  isShown(one: PingerPage): boolean
  break(): Promise<AsyncDisposable>
}

/** What a pinger asks, in parts, so that each check is seen to fail while those that are like it are well. */
export function breakagesAround(
  cluster: Cluster,
  own: PodObject,
  others: readonly PodObject[],
): readonly Breakage[] {
  const node = nodeOf(cluster, own)
  const pod = placeOf(cluster, own)
  const machine = node.name
  const families = ofStack(cluster.topology.stack, worldAddress).length
  const addresses = addressesOfPod(own)
  const farAddresses = others.flatMap(addressesOfPod)
  /** Its packets to itself never leave the pod. */
  const pings = others.length > 0 ? ['pod'] : []
  const isOwn = (one: PingerPage): boolean => one.pod === own
  const isOne = (one: PingerPage, name: string, isWanted: boolean): boolean =>
    samplesOf(one.page, name)[0]?.value === (isWanted ? 1 : 0)
  /** Targets of every family that have lost a round's packets, of those with a label's value. */
  const lost = (
    { page }: PingerPage,
    kind: string,
    label: string,
    values: readonly string[],
    count = families,
  ): boolean => {
    const of = samplesOf(page, `pinger_${kind}_ping_lost_total`)
    const gone = of.filter(({ labels, value }) => values.includes(labels[label] ?? '') && value >= 3)
    return gone.length === count
  }
  const closed = ({ page }: PingerPage, check: string): boolean =>
    samplesOf(page, 'pinger_port_up').filter(({ labels, value }) => labels['check'] === check && value === 0)
      .length === families
  return [
    {
      what: 'a node takes no echo and no UDP, its pod no TCP, the Service has no endpoint, ovsdb-server hangs',
      fails: ['node', 'node-udp', 'pod-tcp', 'service', 'ovs', 'port-bindings'],
      failsElsewhere: ['node', 'node-udp', 'pod-tcp', 'service'],
      isShown: (one) =>
        lost(one, 'node', 'target_node_name', [machine]) &&
        ['node-udp', 'pod-tcp', 'service'].every((check) => closed(one, check)) &&
        isOne(one, 'pinger_ovs_down', isOwn(one)) &&
        isOne(one, 'pinger_ovs_up', !isOwn(one)) &&
        (!isOwn(one) || samplesOf(one.page, 'pinger_inconsistent_port_binding').length === 0),
      break: () =>
        together(
          () =>
            dropPackets(node.place, {
              input: ['icmp type echo-request', 'icmpv6 type echo-request', `udp dport ${udpPort}`],
            }),
          () => dropPackets(pod, { input: [`tcp dport ${tcpPort}`] }),
          () => takeEndpoints(cluster, 'kube-ovn-pinger'),
          () => injectFault(cluster, { kind: 'pause', target: { machine, component: 'ovsdb-server' } }),
        ),
    },
    {
      what: 'a node takes no TCP, its pod no UDP, odd flows drop echoes to pods, an interface is unknown, ovn-controller hangs',
      fails: [...pings, 'node-tcp', 'pod-udp', 'ovn-controller', 'port-bindings'],
      failsElsewhere: [...pings, 'node-tcp', 'pod-udp'],
      isShown: (one) =>
        (isOwn(one)
          ? lost(one, 'pod', 'target_pod_ip', farAddresses, farAddresses.length)
          : lost(one, 'pod', 'target_pod_ip', addresses)) &&
        ['node-tcp', 'pod-udp'].every((check) => closed(one, check)) &&
        isOne(one, 'pinger_ovn_controller_down', isOwn(one)) &&
        isOne(one, 'pinger_inconsistent_port_binding', isOwn(one)),
      break: () =>
        together(
          () => dropPackets(node.place, { input: [`tcp dport ${tcpPort}`] }),
          () => dropPackets(pod, { input: [`udp dport ${udpPort}`] }),
          () => addOddFlows(cluster, machine, [...addresses, ...farAddresses]),
          () => addStrayInterface(cluster, machine),
          () => injectFault(cluster, { kind: 'pause', target: { machine, component: 'ovn-controller' } }),
        ),
    },
    {
      what: 'who is asked outside is gone, names are not told, and the node is cut off from the API server',
      fails: ['apiserver', 'external', 'external-dns', 'internal-dns'],
      failsElsewhere: ['external', 'external-dns', 'internal-dns'],
      failsInJob: ['apiserver', 'external', 'external-dns', 'internal-dns', 'targets'],
      isShown: (one) =>
        lost(one, 'external', 'target_address', Object.values(worldAddress)) &&
        ['internal_dns', 'external_dns'].every((name) => isOne(one, `pinger_${name}_unhealthy`, true)) &&
        isOne(one, 'pinger_apiserver_unhealthy', isOwn(one)),
      break: () =>
        together(
          () => takeWorld(cluster),
          // Its pods stay: others compare what is there before and after.
          () => takeEndpoints(cluster, 'kube-dns'),
          () => injectFault(cluster, { kind: 'partition', node: machine, from: { service: 'api' } }),
        ),
    },
  ]
}

/** Gives the address of the world to the outside host, as long as the result lives. */
export async function beTheWorld(cluster: Cluster): Promise<AsyncDisposable> {
  await changeWorld(cluster, 'replace')
  return { [Symbol.asyncDispose]: () => changeWorld(cluster, 'del') }
}

async function takeWorld(cluster: Cluster): Promise<AsyncDisposable> {
  await changeWorld(cluster, 'del')
  return { [Symbol.asyncDispose]: () => changeWorld(cluster, 'replace') }
}

async function changeWorld({ outside }: Cluster, verb: 'replace' | 'del'): Promise<void> {
  await runAt(outside.place, ['ip', '-batch', '-'], {
    input: `address ${verb} ${worldAddress.ipv4}/32 dev lo\naddress ${verb} ${worldAddress.ipv6}/128 dev lo\n`,
  })
}

/** Breaks one after the other; all are whole again, the last one first, when the result goes. */
async function together(...breaks: readonly (() => Promise<AsyncDisposable>)[]): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  for (const breakOne of breaks) stack.use(await breakOne())
  return stack.move()
}

/**
 * Has a Service choose no pod, as long as the result lives. Nobody is sent to a pod by it any more when it is returned: who would tell that to
 * the Northbound may be cut off next.
 */
export async function takeEndpoints(cluster: Cluster, name: string): Promise<AsyncDisposable> {
  const path = `/api/v1/namespaces/${chartNamespace}/services/${name}`
  const select = (gone: 'true' | null): Promise<ServiceObject> =>
    cluster.api.mergePatch<ServiceObject>(path, { spec: { selector: { gone } } })
  const { spec } = await select('true')
  const central = await ovnCentral(cluster)
  await eventually(`the Service ${name} has no backends`, async () => {
    const vips = await loadBalancerVips(central)
    const own = vips.filter(([vip]) => spec.clusterIPs.includes(vip.replace(/^\[?(.*?)\]?:\d+$/, '$1')))
    return own.every(([, backends]) => backends === '') ? true : undefined
  })
  return { [Symbol.asyncDispose]: async () => void (await select(null)) }
}

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs: readonly string[] }
}
