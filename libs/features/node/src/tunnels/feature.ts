import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { TunnelAddressNotFoundError, TunnelNicNotFoundError } from '../errors.ts'
import { linkTable } from '../host-links.ts'
import { bridgeTable } from '../local-bridges.ts'
import { ovsRows, type OvsFragment } from '../sinks/ovs-rows.ts'
import { agentTable, nodeTable } from '../tables.ts'
import { desiredTunnel, type DesiredTunnel } from './desired.ts'
import { observeTunnel } from './observe.ts'

/** Where this node's tunnels end, or why that is not known. */
export const tunnelTable = rowTable({
  name: 'tunnel',
  of: agentTable,
  reads: { nodes: nodeTable, links: linkTable, bridges: bridgeTable },
  row(agent, { nodes, links, bridges }): Answer<DesiredTunnel> {
    const node = nodes.get(agent.nodeName)
    if (node === undefined) return { wait: 'the API server has not sent the Node yet' }
    const { snapshot, problem } = observeTunnel(agent.tunnel, node, links.scan(), bridges.scan())
    try {
      return { want: desiredTunnel(snapshot), ...(problem && { problem }) }
    } catch (error) {
      if (error instanceof TunnelNicNotFoundError || error instanceof TunnelAddressNotFoundError)
        return { problem: error }
      throw error
    }
  },
})

const rowsTable = rowTable({
  name: 'tunnel-rows',
  of: tunnelTable,
  row: (tunnel): Answer<OvsFragment> =>
    'want' in tunnel ? { ...tunnel, want: { externalIds: tunnel.want.externalIds } } : tunnel,
})

/** Tells ovn-controller where this node's tunnels end; their MTU is in {@link tunnelTable} for the rest of the agent. */
export const tunnels: NodeFeature = { name: 'tunnels', contributions: [contribution(ovsRows, rowsTable)] }
