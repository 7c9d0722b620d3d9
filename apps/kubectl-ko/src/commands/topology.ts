import type { Command } from 'commander'
import { openCluster, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readTopology } from '../facts.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
import { renderData, type OutputChoice } from '../output.ts'
import { drawTopology } from '../topology/picture.ts'
import { renderTree, topologyOf } from '../topology/tree.ts'

/** Adds `topology`: VPCs, and the subnets, peerings, routes and policies in them. */
export function addTopology(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('topology')
        .description('show VPCs with their subnets, gateways, peerings, routes and policies')
        .argument('[vpc]', 'only this one'),
    ),
    ['svg'],
  )
  withExamples(command, [
    'kubectl ko topology',
    'kubectl ko topology red-vpc',
    'kubectl ko topology -o json',
    'kubectl ko topology -o svg >topology.svg',
  ]).action(async (only: string | undefined) => {
    await using cluster = await openCluster(context, command)
    const { vpcs, subnets } = await readTopology(cluster)
    const all = topologyOf(vpcs, subnets)
    const shown = only === undefined ? all : all.filter(({ name }) => name === only)
    if (only !== undefined && shown.length === 0)
      throw new UsageError('vpc', only, `write one of: ${all.map(({ name }) => name).join(', ')}`)
    const { output } = command.opts<{ readonly output: OutputChoice['output'] | 'svg' }>()
    if (output === 'svg') print(context, drawTopology(shown))
    else
      print(context, output === 'json' || output === 'yaml' ? renderData(shown, output) : renderTree(shown))
  })
}
