import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `plan`: what a manifest would change, before it is applied. */
export function addPlan(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('plan')
        .description(
          "show which rows a manifest would add, change and remove, and which addresses it would take, by the controller's own dry run; ends with 1 when something of it would be refused",
        )
        .requiredOption('-f, --filename <file...>', 'manifest of YAML or JSON; - for standard input')
        .option('--delete', 'the objects would be deleted', false)
        .option('-n, --namespace <namespace>', 'of objects without one', 'default'),
    ),
  )
  withExamples(command, [
    'kubectl ko plan -f subnet.yaml',
    'kubectl ko plan -f - -o json < subnet.yaml',
    'kubectl ko plan --delete -f subnet.yaml',
  ]).action(async () => {
    const { showPlan } = await import('../actions/ask-plan.ts')
    await showPlan(context, command)
  })
}
