import { createHash } from 'node:crypto'
import { networkInterface } from '../cluster/nics.ts'
import { networkNames, type NetworkName } from '../cluster/topology.ts'
import { insideContainer, runAt, tryAt } from '../namespaces.ts'
import { services, type OtherSide } from './fault.ts'
import { nodeNamed } from '../cluster/lookup.ts'
import { setPortState } from './bridge-port.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LabNode } from '../cluster/node.ts'

/** Silently drops what passes between a node and another side. */
export async function partition(cluster: Cluster, nodeName: string, from: OtherSide): Promise<void> {
  const node = nodeNamed(cluster, nodeName)
  if ('network' in from) {
    const networks = from.network === 'all' ? networkNames : [from.network]
    for (const network of networks) await setPortState(cluster, node, network, 'disabled')
  } else if ('node' in from) {
    const other = nodeNamed(cluster, from.node)
    const table = tableName(nodeName, from)
    await load(node, renderPairTable(table, await interfacesOf(cluster, node), addressesOf(other)))
    await load(other, renderPairTable(table, await interfacesOf(cluster, other), addressesOf(node)))
  } else await load(node, renderServiceTable(tableName(nodeName, from), services[from.service]))
}

/** Lets everything pass again; a node that has been removed meanwhile is fine. */
export async function heal(cluster: Cluster, nodeName: string, from: OtherSide): Promise<void> {
  const names = 'node' in from ? [nodeName, from.node] : [nodeName]
  const ends = cluster.nodes.filter(({ name }) => names.includes(name))
  if ('network' in from) {
    const networks = from.network === 'all' ? networkNames : [from.network]
    for (const node of ends)
      for (const network of networks) await setPortState(cluster, node, network, 'forwarding')
    return
  }
  const family = 'node' in from ? 'netdev' : 'inet'
  // A node that was started again has lost its tables already.
  await Promise.all(
    ends.map(({ place }) => tryAt(place, ['nft', 'delete', 'table', family, tableName(nodeName, from)])),
  )
}

function load(node: LabNode, rules: string): Promise<string> {
  return runAt(insideContainer(node.container), ['nft', '-f', '-'], { input: rules })
}

function tableName(node: string, from: OtherSide): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([node, from]))
    .digest('hex')
  return `lab_fault_${hash.slice(0, 10)}`
}

function addressesOf(node: LabNode): readonly string[] {
  return [node.kubernetes, node.tunnel, node.physical].flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6])
}

function interfacesOf(cluster: Cluster, node: LabNode): Promise<string[]> {
  return Promise.all(
    networkNames.map((network: NetworkName) =>
      networkInterface(cluster, node, network).then(({ name }) => name),
    ),
  )
}

/**
 * Rules that let nothing out of these interfaces to an address.
 *
 * On the way out, because the userspace data path reads what comes in before any rule sees it; both ends have them.
 */
export function renderPairTable(
  table: string,
  interfaces: readonly string[],
  addresses: readonly string[],
): string {
  const set = (isWanted: (address: string) => boolean): string =>
    `{ ${addresses.filter(isWanted).join(', ')} }`
  return [
    `table netdev ${table} {`,
    '  chain out {',
    `    type filter hook egress devices = { ${interfaces.map((name) => JSON.stringify(name)).join(', ')} } priority 0`,
    `    ip daddr ${set((address) => !address.includes(':'))} drop`,
    `    ip6 daddr ${set((address) => address.includes(':'))} drop`,
    '  }',
    '}',
    '',
  ].join('\n')
}

/** Rules that cut a node off from what serves on these ports, be it here or elsewhere. */
export function renderServiceTable(table: string, ports: readonly number[]): string {
  const set = `{ ${ports.join(', ')} }`
  return [
    `table inet ${table} {`,
    ...['input', 'output', 'forward'].map(
      (hook) =>
        `  chain ${hook} { type filter hook ${hook} priority 0; tcp dport ${set} drop; tcp sport ${set} drop; }`,
    ),
    '}',
    '',
  ].join('\n')
}
