import { eventually } from '../kubernetes/wait.ts'
import { runAt, tryAt } from '../namespaces.ts'
import { databaseLeader, databaseMembers, type DatabaseMember } from './database-leader.ts'
import type { Cluster } from '../cluster/cluster.ts'

/**
 * Makes sure that ovn-northd is active elsewhere than where the Southbound is led, whose server has its lock: what happens to one then does
 * not happen to the other.
 *
 * @returns the node of the active one
 * @throws {LabTimeoutError} if no other one becomes active
 */
export async function partNorthdFromLeader(cluster: Cluster): Promise<string> {
  const leader = await databaseLeader(cluster, 'southbound')
  const others = (await databaseMembers(cluster)).filter(({ node }) => node !== leader.node)
  // One that is paused gives its lock to whoever waits for it, and is the last to wait when it goes on.
  await northd(leader, 'pause')
  try {
    return await eventually('ovn-northd is active away from the leader of the Southbound', async () => {
      for (const other of others) if (await isActive(other)) return other.node
      return undefined
    })
  } finally {
    await northd(leader, 'resume')
  }
}

async function isActive({ place }: DatabaseMember): Promise<boolean> {
  const { stdout } = await tryAt(place, command('status'))
  return stdout.includes('Status: active')
}

function northd({ place }: DatabaseMember, what: 'pause' | 'resume'): Promise<string> {
  return runAt(place, command(what))
}

/** By its socket: of a process id ovn-appctl would look for the process, which it sees only among those of its container. */
function command(what: string): readonly string[] {
  const socket = '/var/run/ovn/ovn-northd.$(cat /var/run/ovn/ovn-northd.pid).ctl'
  return ['sh', '-c', `exec ovn-appctl --timeout=5 --target="${socket}" "$1"`, 'sh', what]
}
