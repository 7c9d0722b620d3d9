import { findLab, openCluster } from '../cluster/cluster.ts'
import { ofStack } from '../cluster/topology.ts'
import { pingAll } from '../probe/ping.ts'
import { countRow, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** Clusters that see each other: every node reaches every node of the other one, in the tunnel network and in the physical one. */
export const seenCluster: Check = {
  name: 'nodes of the other cluster',
  async run(cluster) {
    if (cluster.topology.sees === undefined) return []
    const seen = await openCluster(await findLab(cluster.topology.sees))
    try {
      return [...(await reachRows(cluster, seen)), ...(await reachRows(seen, cluster))]
    } finally {
      seen.api[Symbol.dispose]()
    }
  },
}

async function reachRows(from: Cluster, to: Cluster): Promise<readonly CheckRow[]> {
  return Promise.all(
    (['tunnel', 'physical'] as const).map(async (network) => {
      const addresses = to.nodes.flatMap((node) => ofStack(to.topology.stack, node[network]))
      const answered = await Promise.all(from.nodes.map(({ place }) => pingAll(place, addresses)))
      return countRow(
        `nodes of ${from.topology.id} to nodes of ${to.topology.id}, network ${network}`,
        answered.reduce((sum, { size }) => sum + size, 0),
        from.nodes.length * addresses.length,
      )
    }),
  )
}
