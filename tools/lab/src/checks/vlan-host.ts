import { chartNamespace } from '../chart.ts'
import { hostNumber } from '../cluster/node.ts'
import { vlanAddresses } from '../cluster/topology.ts'
import { untilPodsReady } from '../kubernetes/workloads.ts'
import { insidePodContainer, runAt, type Place } from '../namespaces.ts'
import { firstOf } from './check.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'

const ownBridge = 'lab-trunk'
/** The first NIC has addresses of the node on it; the second is bare. */
const trunk = 'phys1'

/**
 * Makes a node a host in every VLAN of the physical network until this is disposed of: its own Open vSwitch puts tags on and takes them off.
 */
export async function joinVlans(cluster: Cluster, node: LabNode): Promise<AsyncDisposable> {
  const { vlans } = cluster.topology
  const vsctl = await vsctlOf(cluster, node)
  await vsctl(
    ...['--may-exist', 'add-br', ownBridge, '--', 'set', 'bridge', ownBridge, 'datapath_type=netdev'],
    ...['--', '--may-exist', 'add-port', ownBridge, trunk],
    ...vlans.flatMap((vlan) => ['--', ...accessPort(ownBridge, vlan)]),
  )
  for (const vlan of vlans) await setAddresses(node, vlan)
  return {
    async [Symbol.asyncDispose]() {
      await vsctl('--if-exists', 'del-br', ownBridge)
    },
  }
}

/** What a host of a VLAN is known by there. */
export interface VlanHost extends AsyncDisposable {
  readonly nic: string
  readonly mac: string
}

/** Makes a node a host in a VLAN by way of the bridge that has its NIC, until this is disposed of. */
export async function joinVlanBy(
  cluster: Cluster,
  node: LabNode,
  { bridge, vlan }: { readonly bridge: string; readonly vlan: number },
): Promise<VlanHost> {
  const vsctl = await vsctlOf(cluster, node)
  const nic = nicOf(vlan)
  await vsctl(...accessPort(bridge, vlan))
  await setAddresses(node, vlan)
  const links = JSON.parse(await runAt(node.place, ['ip', '-json', 'link', 'show', 'dev', nic])) as readonly {
    readonly address: string
  }[]
  return {
    nic,
    mac: firstOf(links, `the link ${nic} of ${node.name}`).address,
    async [Symbol.asyncDispose]() {
      await vsctl('--if-exists', 'del-port', bridge, nic)
    },
  }
}

async function vsctlOf(cluster: Cluster, node: LabNode): Promise<(...args: string[]) => Promise<string>> {
  const vswitch = await vswitchOf(cluster, node)
  return (...args) => runAt(vswitch, ['ovs-vsctl', '--timeout=10', ...args])
}

function accessPort(bridge: string, vlan: number): readonly string[] {
  return [
    ...['--may-exist', 'add-port', bridge, nicOf(vlan), `tag=${vlan}`],
    ...['--', 'set', 'interface', nicOf(vlan), 'type=internal'],
  ]
}

async function setAddresses(node: LabNode, vlan: number): Promise<void> {
  const nic = nicOf(vlan)
  const { ipv4, ipv6 } = vlanAddresses(vlan, hostNumber(node.kubernetes))
  await runAt(node.place, ['ethtool', '-K', nic, 'tx', 'off'])
  await runAt(node.place, ['ip', '-batch', '-'], {
    input: `address replace ${ipv4}/24 dev ${nic}\naddress replace ${ipv6}/64 dev ${nic} nodad\nlink set ${nic} up\n`,
  })
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
