import {
  hasControllerFinalizer,
  networksOfMarks,
  nodeLabel,
  providerNetworkAnnotations,
  providerNetworkKeysOf,
  readProviderNetworkRequest,
} from '@kube-ovn/annotations'
import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import { contribution, type Answer, type NodeFeature, type Probation } from '@kube-ovn/fragments'
import { conditionType, takesPart, type ProviderNetwork, type Vlan } from '@kube-ovn/kube-api'
import type { Node } from '@kube-ovn/kube-api/core'
import { rowTable, sourceTable, type ViewOf } from '@kube-ovn/tables'
import { linkTable } from '../host-links.ts'
import { internalAddresses } from '../kube-objects.ts'
import { bridgeTable } from '../local-bridges.ts'
import { openVswitchTable } from '../local-interfaces.ts'
import { nodeObject, type NodeStatement } from '../sinks/node-object.ts'
import {
  agentTable,
  nodeTable,
  providerNetworkTable,
  subnetFactsTable,
  theNode,
  tunnelMtuTable,
  vlanTable,
} from '../tables.ts'
import { providerBridges, takenBack } from './bridge-sink.ts'
import type { KeptNic } from './nic-moves.ts'
import {
  connectionNames,
  marksOf,
  nicChoiceOf,
  nicNamesOf,
  vlansOf,
  type ConnectionNames,
  type ConnectionStatus,
} from './desired.ts'
import { ProviderNetworkInvalidError } from './errors.ts'
import { mappingKeys, mappingOf } from './mappings.ts'
import { missedWithout } from './only-nic.ts'
import type { ProviderBridge } from './snapshot.ts'

/** How long a connection may be without its links before that is told: a restart of OVS takes less. */
const graceMs = 15_000

const userspaceDatapath = 'userspace'

/** What is known of NICs that were moved. */
export const probationTable = sourceTable<Probation<KeptNic>>({
  name: 'provider-probations',
  isSame: (a, b) => a.state === b.state && a.fragment === b.fragment,
})

/** Why networks can not be connected, as far as only a look at the node tells. */
export const obstacleTable = sourceTable<KubeOvnError>({ name: 'provider-obstacles' })

const waitForNode = { wait: 'the API server has not sent the Node yet' } as const

/** For who goes by the tag of a Vlan: what was so before the Vlan was edited stays. */
export const waitForVlan = { wait: 'the Vlan of the subnet is not in effect as it is written' } as const

/** The tag of each Vlan, and the network that it is on. */
export const vlanTagTable = rowTable({
  name: 'provider-vlan-tags',
  of: vlanTable,
  row(vlan): VlanTag {
    const { id = 0, vlanId = 0, provider = '', providerInterfaceName = '' } = vlan.spec ?? {}
    return {
      ...{ network: provider || providerInterfaceName, tag: id === 0 ? vlanId : id },
      isInEffect: isInEffect(vlan),
    }
  },
  indexes: { network: ({ network }: VlanTag) => [network] },
})

interface VlanTag {
  readonly network: string
  readonly tag: number
  /** The controller has taken it as it is written. Otherwise subnets on it stay as they were, and nobody knows how that was. */
  readonly isInEffect: boolean
}

/** A status of upstream says of which generation it is as little as a definition of upstream lets us. */
function isInEffect({ metadata: { generation }, status = {} }: Vlan): boolean {
  const { observedGeneration = generation, conflict, conditions = [] } = status
  const isRefused = conditions.some(
    ({ type, status: is }) => type === conditionType.validated && is === 'False',
  )
  return observedGeneration === generation && conflict !== true && !isRefused
}

/** Whether this node takes part in a network, and by which NIC. */
interface Participation {
  readonly network: string
  readonly takesPart: boolean
  readonly source: string
  /** All names of the NIC. */
  readonly nics: readonly string[]
}

const participationTable = rowTable({
  name: 'provider-participation',
  of: providerNetworkTable,
  reads: { agent: agentTable, nodes: nodeTable },
  row(network, { agent, nodes }): Participation | undefined {
    const nodeName = agent.get(theNode)?.nodeName ?? ''
    const node = nodes.get(nodeName)
    if (node === undefined || isOver(network)) return undefined
    const { name } = network.metadata
    const { labels, annotations } = node.metadata
    const { isExcluded } = readProviderNetworkRequest(name, annotations)
    return {
      network: name,
      takesPart: takesPart(network, { name: nodeName, labels, isExcluded }),
      source: nicChoiceOf(network, node.metadata).source,
      nics: nicNamesOf(network, node.metadata),
    }
  },
  indexes: { source: (row: Participation) => (row.takesPart ? [row.source] : []) },
})

/** One that is being deleted is as good as gone, unless the controller holds it, for somebody is on it. */
function isOver({ metadata: { deletionTimestamp, finalizers } }: ProviderNetwork): boolean {
  return deletionTimestamp !== undefined && !hasControllerFinalizer(finalizers)
}

/** Whether subnets are on Vlans that are gone, or not in effect as they are written: nobody knows any more which tags these had. */
const lostVlansTable = rowTable({
  name: 'provider-lost-vlans',
  of: agentTable,
  reads: { subnets: subnetFactsTable, tags: vlanTagTable },
  row: (_agent, { subnets, tags }): boolean =>
    subnets.scan().some(({ vlan }) => vlan !== '' && tags.get(vlan)?.isInEffect !== true),
})

/** How this node is to be connected to each network, or why it can not be. */
export const connectionTable = rowTable({
  name: 'provider-connections',
  of: providerNetworkTable,
  reads: {
    agent: agentTable,
    nodes: nodeTable,
    participation: participationTable,
    networks: providerNetworkTable,
    tags: vlanTagTable,
    lostVlans: lostVlansTable,
    links: linkTable,
    bridges: bridgeTable,
  },
  row(network, views, name): Answer<ProviderBridge> | undefined {
    const agent = views.agent.get(theNode)
    const node = views.nodes.get(agent?.nodeName ?? '')
    if (agent === undefined || node === undefined) return waitForNode
    if (views.participation.get(name)?.takesPart !== true) return undefined
    try {
      const names = connectionNames(network, node.metadata)
      const { makes, vlans } = vlansOf(network, names)
      const others = views.participation.scan().filter((other) => other.takesPart && other.network !== name)
      const { source, field, nic, bridge } = names
      const isOperators = node.metadata.labels?.[nodeLabel.datapath] === userspaceDatapath
      if (!isOperators) {
        requireNic(name, { ...names, makes }, node, views)
        requireOther(network, { ...names, vlans }, node, views)
      }
      const tags = views.tags.find('network', name).map(({ tag }) => tag)
      return {
        want: {
          ...{ network: name, bridge, nic, field },
          generation: network.metadata.generation ?? 0,
          source: isOperators ? undefined : source,
          trunks: [...new Set([0, ...tags])].sort((a, b) => a - b),
          keepsTrunks: views.lostVlans.get(theNode) === true,
          vlans: { ...vlans, others: others.flatMap(({ nics }) => nics).sort() },
          makes,
          hasMacLearningFallback: agent.hasMacLearningFallback,
        },
      }
    } catch (error) {
      if (error instanceof ProviderNetworkInvalidError) return { problem: error, about: [name] }
      throw error
    }
  },
})

interface NicViews {
  readonly participation: ViewOf<typeof participationTable>
  readonly networks: ViewOf<typeof providerNetworkTable>
  readonly links: ViewOf<typeof linkTable>
  readonly bridges: ViewOf<typeof bridgeTable>
}

/** A NIC is there, and is that of no other network. Who has it keeps it; else the older network has it. */
function requireNic(
  name: string,
  { source, field, nic, makes }: ConnectionNames & Pick<ProviderBridge, 'makes'>,
  { metadata }: Node,
  views: NicViews,
): void {
  const refuse = (cure: string): never => {
    throw new ProviderNetworkInvalidError({ field, value: source, cure })
  }
  const isThere = [nic, source, makes?.parent ?? source].some((link) => views.links.get(link) !== undefined)
  if (!isThere)
    refuse('name an interface that the node has, one of its own in customInterfaces, or leave the node out')
  const rivals = views.participation.find('source', source).map(({ network }) => network)
  if (rivals.length < 2) return
  const ranks = rivals
    .flatMap((rival) => views.networks.get(rival) ?? [])
    .map((rival) => `${isConnected(rival, metadata, views) ? 0 : 1} ${rankOf(rival)}`)
    .sort()
  const holder = ranks[0]?.split(' ').at(-1)
  if (holder !== undefined && holder !== name)
    refuse(`name another interface: ProviderNetwork ${holder} has this one`)
}

/** A NIC may lead where no other one does if the user says so, or if it is connected already. */
function requireOther(
  network: ProviderNetwork,
  { nic, source, field, vlans }: ConnectionNames & Pick<ReturnType<typeof vlansOf>, 'vlans'>,
  node: Node,
  views: NicViews,
): void {
  const { takesOnlyNic } = providerNetworkAnnotations
  if (takesOnlyNic.read(network.metadata.annotations) === true) return
  if (isConnected(network, node.metadata, views)) return
  const moved = { nic: views.links.get(nic) ?? views.links.get(source), vlans }
  const missed = missedWithout(moved, views.links.scan(), internalAddresses(node))
  if (missed.length === 0) return
  throw new ProviderNetworkInvalidError({
    ...{ field, value: source },
    cure: `name an interface other than the node's only one for ${missed.join(' and ')}, or insist on it: kubectl annotate provider-network ${network.metadata.name} ${takesOnlyNic.key}=true`,
  })
}

function rankOf({ metadata: { creationTimestamp = '', name } }: ProviderNetwork): string {
  return `${creationTimestamp} ${name}`
}

function isConnected(network: ProviderNetwork, node: Node['metadata'], { bridges }: NicViews): boolean {
  try {
    const { nic, bridge } = connectionNames(network, node)
    const present = bridges.get(bridge)
    return present?.isOurs === true && present.ports.includes(nic)
  } catch (error) {
    if (error instanceof ProviderNetworkInvalidError) return false
    throw error
  }
}

/** How this node is connected to each network that there is. */
const statusTable = rowTable({
  name: 'provider-status',
  of: participationTable,
  reads: {
    connections: connectionTable,
    probations: probationTable,
    obstacles: obstacleTable,
    openVswitch: openVswitchTable,
    bridges: bridgeTable,
    links: linkTable,
    mtus: tunnelMtuTable,
  },
  row(participation, views, name): ConnectionStatus | undefined {
    // Before the database has told what there is, nobody knows.
    const ids = views.openVswitch.get(theNode)?.external_ids
    if (ids === undefined) return undefined
    if (!participation.takesPart) return { kind: 'excluded' }
    const answer = views.connections.get(name)
    if (answer === undefined) return undefined
    if ('problem' in answer && answer.problem !== undefined)
      return { kind: 'failed', problem: problemText(answer.problem) }
    if (!('want' in answer)) return undefined
    const obstacle = views.obstacles.get(name)
    const { source, nic, bridge } = answer.want
    const known = views.probations.get(name)
    const isIn = known?.state === 'confirmed' && views.bridges.get(bridge)?.ports.includes(nic) === true
    if (obstacle !== undefined && !isIn) return { kind: 'failed', problem: problemText(obstacle) }
    if (source !== undefined && known?.state === 'reverted')
      return { kind: 'failed', problem: problemText(takenBack(answer.want)) }
    const isMapped = mappingOf(ids[mappingKeys.bridges], name) === bridge
    const ends = views.links.get(bridge)
    const present = views.bridges.get(bridge)
    if (!isMapped || ends === undefined || present?.isOurs !== true) return { kind: 'pending' }
    if (source === undefined)
      return {
        ...{ kind: 'ready', source: participation.source, keepsVlans: false },
        mtu: views.mtus.get(theNode) ?? ends.mtu,
      }
    const link = views.links.get(nic)
    if (link === undefined || !isIn) return { kind: 'pending' }
    return {
      ...{ kind: 'ready', source, mtu: link.mtu, keepsVlans: present.hasVlanInterfaces },
      ...(obstacle === undefined ? {} : { problem: problemText(obstacle) }),
    }
  },
})

const marksTable = rowTable({
  name: 'provider-marks',
  of: statusTable,
  reads: { agent: agentTable, nodes: nodeTable },
  row(status, { agent, nodes }, name): Answer<NodeStatement> {
    const node = nodes.get(agent.get(theNode)?.nodeName ?? '')
    if (node === undefined) return waitForNode
    const want = marksOf(name, status)
    const wasReady = node.metadata.labels?.[providerNetworkKeysOf(name).ready] === 'true'
    return status.kind === 'pending' && wasReady ? { want, afterMs: graceMs } : { want }
  },
})

/** Of networks that are gone nothing is said any more. */
const goneMarksTable = rowTable({
  name: 'provider-gone-marks',
  of: agentTable,
  reads: { nodes: nodeTable, networks: providerNetworkTable },
  row({ nodeName }, { nodes, networks }): Answer<NodeStatement> | undefined {
    const node = nodes.get(nodeName)
    if (node === undefined) return waitForNode
    const { labels, annotations } = node.metadata
    const gone = networksOfMarks({ ...labels, ...annotations }).filter((name) => {
      const network = networks.get(name)
      return network === undefined || isOver(network)
    })
    if (gone.length === 0) return undefined
    const marks = gone.map((name) => marksOf(name, undefined))
    return {
      want: {
        labels: Object.assign({}, ...marks.map((one) => one.labels)) as Readonly<Record<string, null>>,
        annotations: Object.assign({}, ...marks.map((one) => one.annotations)) as Readonly<
          Record<string, null>
        >,
      },
    }
  },
})

/** Connects the node to physical networks, and tells by labels of the Node to which of them it is. */
export const providerNetworks: NodeFeature = {
  name: 'provider-networks',
  contributions: [
    contribution(providerBridges, connectionTable),
    contribution(nodeObject, marksTable),
    contribution(nodeObject, goneMarksTable),
  ],
}

/** How this node is connected to each network, for who tells of it. */
export const connectionStatusTable = statusTable
