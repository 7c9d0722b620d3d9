import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

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
    const { showTopology } = await import('../actions/topology.ts')
    await showTopology(context, command, only)
  })
}
