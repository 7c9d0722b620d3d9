import { networkInterface } from '../cluster/nics.ts'
import { physicalPort } from '../cluster/physical-network.ts'
import { physicalSwitch } from '../cluster/physical-switch.ts'
import { LabTimeoutError } from '../errors.ts'
import { runProgram } from '../program.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LabNode } from '../cluster/node.ts'
import type { NetworkName } from '../cluster/topology.ts'

/** As bridge(8) numbers them. */
const states = { disabled: '0', forwarding: '3' } as const

/**
 * Sets whether the switch of a network passes on what a node sends and what is sent to it.
 *
 * The node's NIC stays up: it is silence, as from a switch that has lost its mind, and not a pulled cable. The state is gone with the NIC.
 */
export async function setPortState(
  cluster: Cluster,
  node: LabNode,
  network: NetworkName,
  state: keyof typeof states,
): Promise<void> {
  if (network === 'physical') {
    const { place } = cluster.outside
    await physicalSwitch(cluster.topology).setForwarding(
      place,
      physicalPort(node.name),
      state === 'forwarding',
    )
    return
  }
  const { peerIndex } = await networkInterface(cluster, node, network)
  const port = await hostInterface(peerIndex)
  await runProgram('bridge', ['link', 'set', 'dev', port, 'state', states[state]])
}

/** The name of the host's interface with an index. */
async function hostInterface(index: number): Promise<string> {
  const links = JSON.parse(await runProgram('ip', ['-json', 'link'])) as {
    readonly ifindex: number
    readonly ifname: string
  }[]
  const found = links.find(({ ifindex }) => ifindex === index)
  if (found === undefined)
    throw new LabTimeoutError('something that a fault needs is missing', {
      what: `the host's end of a NIC, interface ${index}`,
      timeoutMs: 0,
      seen: links.map(({ ifname }) => ifname).join(' '),
    })
  return found.ifname
}
