import { findLab, openCluster } from '../cluster/cluster.ts'
import { ofStack } from '../cluster/topology.ts'
import { reachedRow } from './reached-row.ts'
import type { Check, CheckRow } from './check.ts'
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
    (['tunnel', 'physical'] as const).map((network) => {
      const targets = to.nodes.flatMap((node) => ofStack(to.topology.stack, node[network]))
      return reachedRow(
        `nodes of ${from.topology.id} to nodes of ${to.topology.id}, network ${network}`,
        from.nodes.map(({ place }) => ({ from: place, targets })),
      )
    }),
  )
}
