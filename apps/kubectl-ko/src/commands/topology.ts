import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readTopology } from '../facts.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
import { renderData } from '../output.ts'
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
  )
  withExamples(command, [
    'kubectl ko topology',
    'kubectl ko topology red-vpc',
    'kubectl ko topology -o json',
  ]).action(async (only: string | undefined) => {
    await using cluster = await openCluster(context, command)
    const { vpcs, subnets } = await readTopology(cluster)
    const all = topologyOf(vpcs, subnets)
    const shown = only === undefined ? all : all.filter(({ name }) => name === only)
    if (only !== undefined && shown.length === 0)
      throw new UsageError('vpc', only, `write one of: ${all.map(({ name }) => name).join(', ')}`)
    const { output } = outputOf(command)
    print(context, output === 'json' || output === 'yaml' ? renderData(shown, output) : renderTree(shown))
  })
}
