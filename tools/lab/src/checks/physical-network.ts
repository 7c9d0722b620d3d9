import { hostNumber } from '../cluster/node.ts'
import { ofStack, outsideHost, vlanAddresses } from '../cluster/topology.ts'
import { physicalPort } from '../cluster/physical-network.ts'
import { hasSentTagged } from '../cluster/vlan-switch.ts'
import { joinVlans } from './vlan-host.ts'
import { claimRow, type Check, type CheckRow } from './check.ts'
import { reachedRow } from './reached-row.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'
import type { Router } from '../cluster/router.ts'

/** What a topology offers around the cluster: VLANs that nodes can join by their second NIC, and routers that tell each other their networks. */
export const physicalNetwork: Check = {
  name: 'physical network',
  async run(cluster) {
    return [...(await vlanRows(cluster)), ...(await routerRows(cluster))]
  },
}

async function vlanRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { vlans, podNetwork } = cluster.topology
  const nodes = cluster.nodes.filter(({ spec }) => spec.physicalNics > 1)
  // Who has no Open vSwitch has nothing that a tag could be put on with.
  if (vlans.length === 0 || nodes.length === 0 || podNetwork !== 'kube-ovn') return []
  const joined = await Promise.all(nodes.map((node) => joinVlans(cluster, node)))
  try {
    return await Promise.all(
      vlans.flatMap((vlan) => nodes.map((node) => vlanRow(cluster, nodes, node, vlan))),
    )
  } finally {
    await Promise.all(joined.map((membership) => membership[Symbol.asyncDispose]()))
  }
}

/** A node reaches the outside host and the other nodes in a VLAN, and the switch has seen it there. */
async function vlanRow(
  cluster: Cluster,
  nodes: readonly LabNode[],
  node: LabNode,
  vlan: number,
): Promise<CheckRow> {
  const hosts = [
    outsideHost,
    ...nodes.filter((other) => other !== node).map(({ kubernetes }) => hostNumber(kubernetes)),
  ]
  const targets = hosts.flatMap((host) => ofStack(cluster.topology.stack, vlanAddresses(vlan, host)))
  const name = `${node.name} reaches its neighbours in VLAN ${vlan}`
  const row = await reachedRow(name, [{ from: node.place, targets }])
  const isTagged = await hasSentTagged(cluster.outside.place, physicalPort(node.name, 1), vlan)
  if (!isTagged) return claimRow(name, false, 'frames with its tag', 'no such frame at the switch')
  return row
}

async function routerRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { routers } = cluster
  return Promise.all(
    routers.flatMap((router) =>
      routers.filter((other) => other !== router).map((other) => routerRow(cluster, router, other)),
    ),
  )
}

/** Sessions are up within seconds; what is behind a router answers only over what was learned. */
function routerRow(cluster: Cluster, from: Router, to: Router): Promise<CheckRow> {
  const targets = ofStack(cluster.topology.stack, to.behind)
  const name = `${from.name} (${from.daemon}) has learned the network behind ${to.name} (${to.daemon})`
  return reachedRow(name, [{ from: from.place, targets }])
}
