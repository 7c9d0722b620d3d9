import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `env-check`: what of the nodes may be in the way of the network. */
export function addEnvCheck(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('env-check')
        .description(
          'look on the nodes for what is known to be in the way: other plugins, kernel settings, checksum errors, search domains, security software; ends with 1 when it finds some',
        )
        .argument('[node]', 'only this one'),
    ),
  )
  withExamples(command, ['kubectl ko env-check', 'kubectl ko env-check node-1 -o json']).action(
    async (node: string | undefined) => {
      const { showEnvironment } = await import('../actions/env-check.ts')
      await showEnvironment(context, command, node)
    },
  )
}
