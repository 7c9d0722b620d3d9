import type { Cluster } from '../cluster/cluster.ts'
import { eventually } from '../kubernetes/wait.ts'
import { runAt } from '../namespaces.ts'
import { databaseLeader } from './database-leader.ts'

/** Waits until the Southbound has no chassis of these hosts any more: the controller takes away those of nodes that are gone. */
export async function untilChassisGone(cluster: Cluster, hostnames: readonly string[]): Promise<void> {
  const gone = new Set(hostnames)
  const list = [
    'ovn-sbctl',
    '--timeout=10',
    '--bare',
    '--no-headings',
    '--columns=hostname',
    'list',
    'Chassis',
  ]
  await eventually(`the Southbound has no chassis of ${hostnames.join()}`, async () => {
    const { place } = await databaseLeader(cluster, 'southbound')
    const left = (await runAt(place, list)).split('\n').filter((hostname) => gone.has(hostname))
    return left.length === 0 ? true : undefined
  })
}
