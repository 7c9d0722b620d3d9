import { chartNamespace } from '../chart.ts'
import { hostNumber } from '../cluster/node.ts'
import { vlanAddresses } from '../cluster/topology.ts'
import { untilPodsReady } from '../kubernetes/workloads.ts'
import { insidePodContainer, runAt, type Place } from '../namespaces.ts'
import { firstOf } from './check.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'

const bridge = 'lab-trunk'
/** The first NIC has addresses of the node on it; the second is bare. */
const trunk = 'phys1'

/**
 * Makes a node a host in every VLAN of the physical network until this is disposed of: its own Open vSwitch puts tags on and takes them off.
 */
export async function joinVlans(cluster: Cluster, node: LabNode): Promise<AsyncDisposable> {
  const vswitch = await vswitchOf(cluster, node)
  const { vlans } = cluster.topology
  const vsctl = (...args: string[]): Promise<string> => runAt(vswitch, ['ovs-vsctl', '--timeout=10', ...args])
  await vsctl(
    ...['--may-exist', 'add-br', bridge, '--', 'set', 'bridge', bridge, 'datapath_type=netdev'],
    ...['--', '--may-exist', 'add-port', bridge, trunk],
    ...vlans.flatMap((vlan) => [
      ...['--', '--may-exist', 'add-port', bridge, nicOf(vlan), `tag=${vlan}`],
      ...['--', 'set', 'interface', nicOf(vlan), 'type=internal'],
    ]),
  )
  for (const vlan of vlans) {
    const nic = nicOf(vlan)
    const { ipv4, ipv6 } = vlanAddresses(vlan, hostNumber(node.kubernetes))
    await runAt(node.place, ['ethtool', '-K', nic, 'tx', 'off'])
    await runAt(node.place, ['ip', '-batch', '-'], {
      input: `address replace ${ipv4}/24 dev ${nic}\naddress replace ${ipv6}/64 dev ${nic} nodad\nlink set ${nic} up\n`,
    })
  }
  return {
    async [Symbol.asyncDispose]() {
      await vsctl('--if-exists', 'del-br', bridge)
    },
  }
}

async function vswitchOf(cluster: Cluster, node: LabNode): Promise<Place> {
  const pods = await untilPodsReady(cluster.api, chartNamespace, 'app=ovs', cluster.nodes.length)
  const pod = pods.find(({ spec }) => spec.nodeName === node.name)
  return firstOf(
    [insidePodContainer(pod?.metadata.uid ?? '', 'ovs-vswitchd')].filter((place) => place !== undefined),
    `ovs-vswitchd of ${node.name}`,
  )
}

/** At most 15 characters. */
function nicOf(vlan: number): string {
  return `lab-vlan${vlan}`
}
