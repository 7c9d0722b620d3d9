import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { kubectl } from '../kubernetes/kubectl.ts'

const bridge = 'br-int'
const interfaceName = 'stray0'
/** Nobody else's, so that it is taken away and nothing else. */
const cookie = '0x1ab'

/** Gives a node an interface of a pod that nobody knows, as long as the result lives. */
export async function addStrayInterface(cluster: Cluster, node: string): Promise<AsyncDisposable> {
  const set = [
    '--',
    'set',
    'Interface',
    interfaceName,
    'type=internal',
    'external_ids:iface-id=nobody.nowhere',
  ]
  const vsctl = (...args: readonly string[]): Promise<string> =>
    runInVswitchPod(cluster, node, 'ovs-vsctl', '--timeout=10', ...args)
  await vsctl('add-port', bridge, interfaceName, ...set)
  return {
    [Symbol.asyncDispose]: async () => void (await vsctl('--if-exists', 'del-port', bridge, interfaceName)),
  }
}

/** Has a node's Open vSwitch keep no flow in its data path, as long as the result lives: it has to decide about each packet. */
export async function forbidFlows(cluster: Cluster, node: string): Promise<AsyncDisposable> {
  const vsctl = (...args: readonly string[]): Promise<string> =>
    runInVswitchPod(cluster, node, 'ovs-vsctl', '--timeout=10', ...args)
  await vsctl('set', 'Open_vSwitch', '.', 'other_config:flow-limit=0')
  return {
    [Symbol.asyncDispose]: async () =>
      void (await vsctl('remove', 'Open_vSwitch', '.', 'other_config', 'flow-limit')),
  }
}

/** Has a flow that nobody of OVN wrote drop echo requests to addresses, before all others, as long as the result lives. */
export async function addOddFlows(
  cluster: Cluster,
  node: string,
  addresses: readonly string[],
): Promise<AsyncDisposable> {
  const ofctl = (...args: readonly string[]): Promise<string> =>
    runInVswitchPod(cluster, node, 'ovs-ofctl', '--timeout=10', ...args)
  for (const address of addresses) {
    const match = address.includes(':')
      ? `icmp6,icmp_type=128,ipv6_dst=${address}`
      : `icmp,icmp_type=8,nw_dst=${address}`
    await ofctl('add-flow', bridge, `cookie=${cookie},table=0,priority=65535,${match},actions=drop`)
  }
  return { [Symbol.asyncDispose]: async () => void (await ofctl('del-flows', bridge, `cookie=${cookie}/-1`)) }
}

async function runInVswitchPod(
  cluster: Cluster,
  node: string,
  ...command: readonly string[]
): Promise<string> {
  const where = ['-l', 'app=ovs', '--field-selector', `spec.nodeName=${node}`]
  const pod = await kubectl(cluster, 'get', 'pods', '-n', chartNamespace, ...where, '-o', 'name')
  return kubectl(cluster, 'exec', '-n', chartNamespace, pod.trim(), '--', ...command)
}
