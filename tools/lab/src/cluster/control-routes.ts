import { insideContainer, runAt } from '../namespaces.ts'
import { attachToPhysicalNetwork, type PhysicalNetwork } from './physical-network.ts'
import { addressesOf, controlHost, ofStack, type AddressPair, type Blocks, type Stack } from './topology.ts'
import type { Container } from '../docker/container.ts'

/** The NIC of a node on the pod network. */
const podNetworkInterface = 'ovn0'

/**
 * Plugs the control machine into the physical network, on which it reaches nodes with packets for pods: a Docker network drops what is not
 * for an address of its own.
 */
export async function attachControl(network: PhysicalNetwork, control: Container): Promise<void> {
  const machine = { container: control, name: 'control', host: controlHost, nics: 1, isLedOutside: false }
  await attachToPhysicalNetwork(network, machine)
}

/**
 * Leads all that the control machine has no network for to the nodes, which know the way to pods, by each connection over another one.
 *
 * The kernel leaves out a node that does not answer ARP or neighbour discovery, so none of them is needed; to be called again when there are
 * others. What is no pod's goes on to the outside host, which leads nowhere.
 */
export async function leadControlToPods(
  control: Container,
  stack: Stack,
  nodes: readonly { readonly physical: AddressPair }[],
): Promise<void> {
  const families = stack === 'dual' ? (['ipv4', 'ipv6'] as const) : ([stack] as const)
  const lines = ['-4', '-6'].map((family) => `ip ${family} route flush exact default`)
  for (const family of families) {
    const hops = nodes.map(({ physical }) => `nexthop via ${physical[family]}`)
    if (hops.length > 0) lines.push(`ip -${family.slice(-1)} route add default ${hops.join(' ')}`)
  }
  await runAt(insideContainer(control), ['sh', '-ec', lines.join('\n')])
}

/** What the control machine does before its daemons start: connections are spread, and over nodes that answer. */
export const spreadConnections: readonly string[] = [
  'echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy',
  'echo 1 > /proc/sys/net/ipv6/fib_multipath_hash_policy',
  'echo 1 > /proc/sys/net/ipv4/fib_multipath_use_neigh',
]

/**
 * Renders the packet filter of a node: what the control machine sends to pods comes from the node, as it would if the control plane were
 * on it, so that answers come back to this node whatever others the way leads over.
 *
 * @param addresses of the node, one for each family of the stack
 */
export function renderControlSource(stack: Stack, blocks: Blocks, addresses: readonly string[]): string {
  const control = ofStack(stack, addressesOf(blocks, 'physical', controlHost))
  const rules = addresses.map((address, index) => {
    const family = address.includes(':') ? 'ip6' : 'ip'
    return `    oifname ${podNetworkInterface} ${family} saddr ${control[index]} snat ${family} to ${address}`
  })
  return [
    'table inet lab {',
    '  chain control-to-pods {',
    // Before anybody else, who could take it for a pod's.
    '    type nat hook postrouting priority srcnat - 20; policy accept;',
    ...rules,
    '  }',
    '}',
    '',
  ].join('\n')
}
