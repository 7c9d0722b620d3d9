import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `status`: the state of the whole at a glance. */
export function addStatus(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('status')
        .description('show components, nodes, subnets and what is wrong; ends with 1 when something is'),
    ),
  )
  withExamples(command, [
    'kubectl ko status',
    'kubectl ko status -o json',
    'kubectl ko status -o wide --no-headers',
  ]).action(async () => {
    const { showStatus } = await import('../actions/status.ts')
    await showStatus(context, command)
  })
}
