import type { Command } from 'commander'
import { openCluster, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readTopology } from '../facts.ts'
import { renderData, type OutputChoice } from '../output.ts'
import { drawTopology } from '../topology/picture.ts'
import { renderTree, topologyOf } from '../topology/tree.ts'

/** Shows VPCs with what is in them. */
export async function showTopology(
  context: Context,
  command: Command,
  only: string | undefined,
): Promise<void> {
  await using cluster = await openCluster(context, command)
  const { vpcs, subnets } = await readTopology(cluster)
  const all = topologyOf(vpcs, subnets)
  const shown = only === undefined ? all : all.filter(({ name }) => name === only)
  if (only !== undefined && shown.length === 0)
    throw new UsageError('vpc', only, `write one of: ${all.map(({ name }) => name).join(', ')}`)
  const { output } = command.opts<{ readonly output: OutputChoice['output'] | 'svg' }>()
  if (output === 'svg') print(context, drawTopology(shown))
  else print(context, output === 'json' || output === 'yaml' ? renderData(shown, output) : renderTree(shown))
}
