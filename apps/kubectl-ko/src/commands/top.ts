import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `top`: the state, live. */
export function addTop(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('top')
        .description(
          'show the state live: what is wrong, who leads, slow pods, nodes, subnets; once, as status does, where there is no terminal or it is said how',
        ),
    ),
  )
  withExamples(command, [
    'kubectl ko top',
    'kubectl ko top --context staging',
    'kubectl ko top -o json',
  ]).action(async () => {
    const { showTop } = await import('../actions/top.ts')
    await showTop(context, command)
  })
}
