import type { Command } from 'commander'
import { findInterconnectionLeader, findLeader, onNode } from '../components.ts'
import { openCluster, type Context } from '../context.ts'

/** The database where whose leader is a tool runs. */
export type ToolLeader = 'nb' | 'sb' | 'icnb' | 'icsb'

/** Runs a tool where the leader of a database is, and ends as it does. */
export async function runOnLeader(
  context: Context,
  command: Command,
  leader: ToolLeader,
  words: readonly string[],
): Promise<void> {
  await using cluster = await openCluster(context, command)
  const where =
    leader === 'nb' || leader === 'sb'
      ? await findLeader(cluster, leader)
      : await findInterconnectionLeader(cluster, leader)
  context.exitCode = await cluster.run(where, words, context)
}

/** Runs a tool of Open vSwitch on a node, and ends as it does. */
export async function runOnNode(
  context: Context,
  command: Command,
  node: string,
  words: readonly string[],
): Promise<void> {
  await using cluster = await openCluster(context, command)
  context.exitCode = await cluster.run(await onNode(cluster, node, 'ovs'), words, context)
}
