import { Argument, type Command } from 'commander'
import type { LogComponent } from '../actions/log.ts'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutcomeOption } from '../options.ts'

const components: readonly LogComponent[] = ['kube-ovn', 'ovn', 'ovs', 'linux', 'all']

/** Adds `log`: what components and nodes have logged, in a directory. */
export function addLog(program: Command, context: Context): void {
  const command = withOutcomeOption(
    withClusterOptions(
      program
        .command('log')
        .description(
          'save logs of components and the state of the nodes in the directory kubectl-ko-log, without what looks like a secret',
        )
        .addArgument(new Argument('<component>', 'whose').choices(components))
        .option('--lines <number>', 'last lines of each log', '10000'),
    ),
  )
  withExamples(command, ['kubectl ko log all', 'kubectl ko log ovs --lines 500']).action(
    async (component: LogComponent) => {
      const { saveLogs } = await import('../actions/log.ts')
      await saveLogs(context, command, component)
    },
  )
}
