import type { Command } from 'commander'
import type { Reloaded } from '../actions/reload.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { withClusterOptions, withExamples, withOutcomeOption } from '../options.ts'

/** In the order in which they need each other. */
export const components: readonly Reloaded[] = [
  { name: 'ovn-central', kind: 'Deployment' },
  { name: 'ovs-ovn', kind: 'DaemonSet' },
  { name: 'kube-ovn-controller', kind: 'Deployment' },
  { name: 'kube-ovn-cni', kind: 'DaemonSet' },
  { name: 'kube-ovn-pinger', kind: 'DaemonSet' },
  { name: 'kube-ovn-monitor', kind: 'Deployment' },
]
const names = components.map(({ name }) => name).join(', ')

/** Adds `reload`: restarts the components one after the other, and waits for each. */
export function addReload(program: Command, context: Context): void {
  const command = withOutcomeOption(
    withClusterOptions(
      program
        .command('reload')
        .description(
          'restart all components, or one, and wait for each; packets of pods go on but for the moment in which Open vSwitch of a node restarts',
        )
        .argument('[component]', names)
        .option('--timeout <seconds>', 'how long to wait for each', '300'),
    ),
  )
  withExamples(command, ['kubectl ko reload', 'kubectl ko reload kube-ovn-controller']).action(
    async (only: string | undefined) => {
      const chosen = components.filter(({ name }) => only === undefined || name === only)
      if (chosen.length === 0) throw new UsageError('component', only ?? '', `write one of: ${names}`)
      const { reload } = await import('../actions/reload.ts')
      await reload(context, command, chosen)
    },
  )
}
