import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples } from '../options.ts'

/** Adds `top`: the state, live. */
export function addTop(program: Command, context: Context): void {
  const command = withClusterOptions(
    program
      .command('top')
      .description(
        'show the state live: what is wrong, nodes, subnets; once, as text, where there is no terminal',
      ),
  )
  withExamples(command, ['kubectl ko top', 'kubectl ko top --context staging']).action(async () => {
    const { showTop } = await import('../actions/top.ts')
    await showTop(context, command)
  })
}
