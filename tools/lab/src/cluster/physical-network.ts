import { insideContainer, runAt } from '../namespaces.ts'
import { runProgram } from '../program.ts'
import type { Container } from '../docker/container.ts'
import { addressesOf, outsideHost } from './topology.ts'

/** The name of a node's first NIC on the physical network. */
export const physicalInterface = 'phys0'

const bridge = 'br0'

/**
 * Makes the outside host a switch with a host on it: the bridge that all nodes hang on, with the outside host's own address.
 *
 * It forwards nothing and has no other link, so whatever a node sends to an unknown address ends here.
 */
export async function createPhysicalNetwork(outside: Container, block: number): Promise<void> {
  const own = addressesOf(block, 'physical', outsideHost)
  const place = insideContainer(outside)
  await runAt(place, ['ip', '-batch', '-'], {
    input: [
      `link add ${bridge} type bridge`,
      `address add ${own.ipv4}/24 dev ${bridge}`,
      `address add ${own.ipv6}/64 dev ${bridge} nodad`,
      `link set ${bridge} up`,
      '',
    ].join('\n'),
  })
}

/** The port of the switch that a NIC of a node is plugged into. */
export function physicalPort(node: string, nic = 0): string {
  return nic === 0 ? node : `${node}.${nic}`
}

/** Plugs a node into the physical network; its default routes lead to the outside host. */
export async function attachToPhysicalNetwork(
  node: Container,
  machine: { readonly name: string; readonly host: number; readonly nics: number },
  outside: Container,
  block: number,
): Promise<void> {
  const own = addressesOf(block, 'physical', machine.host)
  const router = addressesOf(block, 'physical', outsideHost)
  for (let nic = 0; nic < machine.nics; nic++) await plugIn(node, machine.name, nic, outside)
  await runAt(insideContainer(node), ['ip', '-batch', '-'], {
    input: [
      `address add ${own.ipv4}/24 dev ${physicalInterface}`,
      `address add ${own.ipv6}/64 dev ${physicalInterface} nodad`,
      `route replace default via ${router.ipv4}`,
      `route replace default via ${router.ipv6}`,
      '',
    ].join('\n'),
  })
}

async function plugIn(node: Container, name: string, nic: number, outside: Container): Promise<void> {
  const port = physicalPort(name, nic)
  const own = `phys${nic}`
  await runProgram('ip', [
    ...['link', 'add', own, 'netns', `${node.pid}`, 'type', 'veth'],
    ...['peer', 'name', port, 'netns', `${outside.pid}`],
  ])
  await Promise.all([
    runAt(insideContainer(outside), ['ip', 'link', 'set', port, 'master', bridge, 'up']),
    runAt(insideContainer(node), ['ip', 'link', 'set', own, 'up']),
  ])
}
