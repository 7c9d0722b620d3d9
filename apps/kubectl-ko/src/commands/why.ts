import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `why`: which step of getting a network a pod lacks, since when, and who owes it. */
export function addWhy(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('why')
        .description(
          'show the steps by which a pod gets its network, and which is missing, since when, and who owes it; ends with 1 when one is missing',
        )
        .argument('<pod>', 'NAMESPACE/POD or POD')
        .option('-n, --namespace <namespace>', 'of a pod without one', 'default'),
    ),
  )
  withExamples(command, ['kubectl ko why shop/web-0', 'kubectl ko why shop/web-0 -o json']).action(
    async (text: string) => {
      const { showWhy } = await import('../actions/why.ts')
      await showWhy(context, command, text)
    },
  )
}
