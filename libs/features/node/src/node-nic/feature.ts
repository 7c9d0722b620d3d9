import { AnnotationInvalidError, readNodeNetwork } from '@kube-ovn/annotations'
import { contribution, linkRoutes, type Answer, type LinkRoutes, type NodeFeature } from '@kube-ovn/fragments'
import { cidrOf, cidrText, formatIp, type Ip } from '@kube-ovn/ip'
import type { Node } from '@kube-ovn/kube-api/core'
import { nodePortName } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { internalAddresses } from '../kube-objects.ts'
import { bridgeTable } from '../local-bridges.ts'
import { integrationBridge } from '../local-ovs.ts'
import { offloads, type CompleteChecksums } from '../sinks/offloads.ts'
import { ovsRows, type OvsFragment } from '../sinks/ovs-rows.ts'
import { reachedPrefixes } from '../subnet-facts.ts'
import {
  agentTable,
  nodeTable,
  subnetFactsTable,
  theNode,
  tunnelMtuTable,
  type AgentFacts,
} from '../tables.ts'
import { desiredNodeNic, nodeNicName, type DesiredNodeNic } from './desired.ts'
import { nodeLinks, type NodeLink } from './link-sink.ts'
import type { NodeNetwork } from './snapshot.ts'

/** All that ovn0 should be, or what is still missing. */
const nicTable = rowTable({
  name: 'node-nic',
  of: agentTable,
  reads: { nodes: nodeTable, mtus: tunnelMtuTable, bridges: bridgeTable, subnets: subnetFactsTable },
  row(agent, { nodes, mtus, bridges, subnets }): Answer<DesiredNodeNic> {
    const node = nodes.get(agent.nodeName)
    if (node === undefined) return { wait: 'the API server has not sent the Node yet' }
    const mtu = mtus.get(theNode)
    if (mtu === undefined) return { wait: 'the end of the tunnels is not known' }
    const bridge = bridges.get(integrationBridge)
    if (bridge === undefined) return { wait: `ovn-controller has not made ${integrationBridge} yet` }
    try {
      const network = networkOf(agent, node)
      if (network === undefined) return { wait: 'kube-ovn-controller has not given the Node an address yet' }
      const others = subnets.scan().filter(({ name }) => name !== agent.nodeSwitch)
      return {
        want: desiredNodeNic({
          network,
          mtu,
          hasUserspaceDatapath: bridge.datapathType === 'netdev',
          internalAddresses: internalAddresses(node),
          subnets: reachedPrefixes(others),
        }),
      }
    } catch (error) {
      if (error instanceof AnnotationInvalidError) return { problem: error }
      throw error
    }
  },
})

const portTable = rowTable({
  name: 'node-nic-port',
  of: nicTable,
  row: (nic): Answer<OvsFragment> =>
    'want' in nic
      ? { want: { port: { bridge: integrationBridge, row: { name: nodeNicName, ...nic.want.row } } } }
      : nic,
})

const linkTable = rowTable({
  name: 'node-nic-link',
  of: nicTable,
  row: (nic): Answer<NodeLink> => ('want' in nic ? { want: { name: nodeNicName, ...nic.want.link } } : nic),
})

const offloadTable = rowTable({
  name: 'node-nic-offload',
  of: nicTable,
  row(nic): Answer<CompleteChecksums> | undefined {
    if (!('want' in nic)) return nic
    return nic.want.link.disablesTxChecksumOffload ? { want: { link: nodeNicName } } : undefined
  },
})

const routeTable = rowTable({
  name: 'node-nic-routes',
  of: nicTable,
  row: (nic): Answer<LinkRoutes> =>
    'want' in nic ? { want: { link: nodeNicName, routes: nic.want.routes } } : nic,
})

/**
 * The node's interface on the join network, ovn0: its port, its link with addresses, its routes to subnets.
 *
 * When vswitchd restarts with the userspace data path, the device vanishes and comes back bare, which is a change like any other.
 */
export const nodeNic: NodeFeature = {
  name: 'node-nic',
  contributions: [
    contribution(ovsRows, portTable),
    contribution(nodeLinks, linkTable),
    contribution(offloads, offloadTable),
    contribution(linkRoutes, routeTable),
  ],
}

function networkOf({ nodeName }: AgentFacts, node: Node): NodeNetwork | undefined {
  const network = readNodeNetwork(node.metadata.annotations)
  if (network === undefined) return undefined
  const { addresses, cidrs, gateways } = network
  return {
    portName: network.portName ?? nodePortName(nodeName),
    mac: network.mac,
    addresses: known([
      prefixed(addresses.v4, cidrs.v4?.prefixLength ?? 32),
      prefixed(addresses.v6, cidrs.v6?.prefixLength ?? 128),
    ]),
    gateways: known([gateways.v4, gateways.v6].map((ip) => (ip === undefined ? undefined : formatIp(ip)))),
  }
}

function prefixed(ip: Ip | undefined, prefixLength: number): string | undefined {
  return ip === undefined ? undefined : cidrText(cidrOf(ip, prefixLength))
}

function known(texts: readonly (string | undefined)[]): readonly string[] {
  return texts.filter((text) => text !== undefined)
}
