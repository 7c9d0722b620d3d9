import { insideContainer, runAt, tryAt } from '../namespaces.ts'
import { runProgram } from '../program.ts'
import type { Container } from '../docker/container.ts'
import { switchName, vlanPort } from './names.ts'
import { physicalSwitch } from './physical-switch.ts'
import {
  addressesOf,
  outsideHost,
  subnetsOf,
  vlanAddresses,
  type AddressPair,
  type Blocks,
  type Topology,
} from './topology.ts'

/** The name of a machine's first NIC on the physical network. */
export const physicalInterface = 'phys0'

/** Where a machine is plugged in. */
export interface PhysicalNetwork {
  readonly topology: Topology
  readonly blocks: Blocks
  readonly outside: Container
}

/** A machine that is plugged in. */
export interface PluggedMachine {
  readonly container: Container
  readonly name: string
  readonly host: number
  readonly nics: number
  /** Its default routes lead to the outside host. */
  readonly isLedOutside: boolean
}

/**
 * Makes the outside host a switch with a host on it: everything else hangs on it, and it has an address of its own, and one in each VLAN.
 *
 * It forwards nothing and has no other link, so whatever a node sends to an unknown address ends here.
 */
export async function createPhysicalNetwork({ topology, blocks, outside }: PhysicalNetwork): Promise<void> {
  const place = insideContainer(outside)
  await physicalSwitch(topology).create(place)
  await runAt(place, ['ip', '-batch', '-'], {
    input: [
      ...hostPortLines(switchName, addressesOf(blocks, 'physical', outsideHost)),
      ...topology.vlans.flatMap((vlan) => hostPortLines(vlanPort(vlan), vlanAddresses(vlan, outsideHost))),
      '',
    ].join('\n'),
  })
}

function hostPortLines(nic: string, { ipv4, ipv6 }: AddressPair): readonly string[] {
  return [
    `address add ${ipv4}/24 dev ${nic}`,
    `address add ${ipv6}/64 dev ${nic} nodad`,
    `link set ${nic} up`,
  ]
}

/**
 * Joins the physical networks of two labs: one wire between the switches, and both outside hosts lead from either network to the other.
 */
export async function joinPhysicalNetworks(one: PhysicalNetwork, other: PhysicalNetwork): Promise<void> {
  const ends = [
    { network: one, beyond: other },
    { network: other, beyond: one },
  ].map(({ network, beyond }) => ({
    place: insideContainer(network.outside),
    topology: network.topology,
    port: `lab-${beyond.blocks.own}`,
    subnets: subnetsOf(beyond.blocks, 'physical'),
  }))
  const [near = [], far = []] = ends.map(({ port, place }) => [port, 'netns', `${place.networkPid}`])
  await runProgram('ip', ['link', 'add', ...near, 'type', 'veth', 'peer', 'name', ...far])
  for (const { place, topology, port, subnets } of ends) {
    await physicalSwitch(topology).plugIn(place, port)
    await runAt(place, ['sh', '-ec', renderForwarding(subnets)])
  }
}

/** Packets go back by the link that they came from; nobody is to be told of a shorter way. */
function renderForwarding({ ipv4, ipv6 }: AddressPair): string {
  return [
    'mount -o remount,rw /proc/sys',
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
    `echo 0 | tee /proc/sys/net/ipv4/conf/all/send_redirects > /proc/sys/net/ipv4/conf/${switchName}/send_redirects`,
    `ip route replace ${ipv4} dev ${switchName}`,
    `ip route replace ${ipv6} dev ${switchName}`,
  ].join('\n')
}

/** The port of the switch that a NIC of a machine is plugged into. */
export function physicalPort(machine: string, nic = 0): string {
  return nic === 0 ? machine : `${machine}.${nic}`
}

/** Plugs a machine into the physical network. */
export async function attachToPhysicalNetwork(
  network: PhysicalNetwork,
  machine: PluggedMachine,
): Promise<void> {
  const own = addressesOf(network.blocks, 'physical', machine.host)
  const outside = addressesOf(network.blocks, 'physical', outsideHost)
  for (let nic = 0; nic < machine.nics; nic++) await plugIn(network, machine, nic)
  await runAt(insideContainer(machine.container), ['ip', '-batch', '-'], {
    input: [
      `address add ${own.ipv4}/24 dev ${physicalInterface}`,
      `address add ${own.ipv6}/64 dev ${physicalInterface} nodad`,
      ...(machine.isLedOutside
        ? [`route replace default via ${outside.ipv4}`, `route replace default via ${outside.ipv6}`]
        : []),
      '',
    ].join('\n'),
  })
}

async function plugIn(
  { topology, outside }: PhysicalNetwork,
  { container, name }: PluggedMachine,
  nic: number,
): Promise<void> {
  const port = physicalPort(name, nic)
  const own = `phys${nic}`
  const place = insideContainer(container)
  // Of a machine that lost its power: connections that could not end keep its NICs for a while.
  await tryAt(insideContainer(outside), ['ip', 'link', 'delete', port])
  await runProgram('ip', [
    ...['link', 'add', own, 'netns', `${container.pid}`, 'type', 'veth'],
    ...['peer', 'name', port, 'netns', `${outside.pid}`],
  ])
  // A switch in userspace, here or beyond, reads packets before the kernel fills in checksums that it has put off.
  await runAt(place, ['ethtool', '-K', own, 'tx', 'off'])
  await Promise.all([
    physicalSwitch(topology).plugIn(insideContainer(outside), port),
    runAt(place, ['ip', 'link', 'set', own, 'up']),
  ])
}
