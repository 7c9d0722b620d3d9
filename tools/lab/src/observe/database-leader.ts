import { chartNamespace } from '../chart.ts'
import { insidePodContainer, tryAt, type Place } from '../namespaces.ts'
import { eventually } from '../kubernetes/wait.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { statusCommand, type OvnDatabase } from './database-servers.ts'

/** A server of a database. */
export interface DatabaseMember {
  readonly node: string
  /** Its container, with OVN's own tools in it. */
  readonly place: Place
}

/**
 * Waits until a member of a database leads; a server that is alone does.
 *
 * Others need not run: one that is cut off may still think that it leads, in an earlier term than the one that does.
 *
 * @throws {LabTimeoutError} if none does
 */
export function databaseLeader(cluster: Cluster, database: OvnDatabase): Promise<DatabaseMember> {
  return eventually(
    `a member of the ${database} leads`,
    async () => {
      const members = await databaseMembers(cluster)
      if (members.length === 1) return members[0]
      const terms = await Promise.all(members.map(({ place }) => termLed(place, database)))
      const newest = Math.max(...terms.map((term) => term ?? -1))
      return members.find((_, index) => terms[index] === newest)
    },
    { timeoutMs: 120_000 },
  )
}

/** The servers of the databases that run. */
export async function databaseMembers(cluster: Cluster): Promise<readonly DatabaseMember[]> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dovn-central`
  return (await cluster.api.list<PodObject>(path)).flatMap(({ metadata, spec }) => {
    const place = insidePodContainer(metadata.uid ?? '', 'ovsdb-server')
    return place === undefined ? [] : [{ node: spec.nodeName ?? '', place }]
  })
}

/** The term in which a member leads, as it says; undefined if it does not. */
async function termLed(member: Place, database: OvnDatabase): Promise<number | undefined> {
  const { stdout } = await tryAt(member, statusCommand(database))
  return /^Role: leader$/m.test(stdout) ? Number(/^Term: (\d+)$/m.exec(stdout)?.[1]) : undefined
}
