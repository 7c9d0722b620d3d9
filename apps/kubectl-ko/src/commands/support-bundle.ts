import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutcomeOption } from '../options.ts'

/** Adds `support-bundle`: what a person needs who is to help, in a directory. */
export function addSupportBundle(program: Command, context: Context): void {
  const command = withOutcomeOption(
    withClusterOptions(
      program
        .command('support-bundle')
        .description(
          'collect state, objects, logs and databases in a directory, without Secrets and what looks like one; ends with 1 when something could not be had',
        )
        .argument('[directory]', 'default: kubectl-ko-bundle-TIME')
        .option('--lines <number>', 'last lines of each log', '2000'),
    ),
  )
  withExamples(command, [
    'kubectl ko support-bundle',
    'kubectl ko support-bundle /tmp/for-support --lines 500',
  ]).action(async (name: string | undefined) => {
    const { collectBundle } = await import('../actions/support-bundle.ts')
    await collectBundle(context, command, name)
  })
}
