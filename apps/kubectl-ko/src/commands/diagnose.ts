import { Argument, type Command } from 'commander'
import type { Subject } from '../actions/diagnose.ts'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

const types: readonly Subject['type'][] = ['all', 'node', 'subnet', 'IPPorts']

/** Adds `diagnose`: asks everything that can be asked, and ends with 1 when something is wrong. */
export function addDiagnose(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('diagnose')
        .description(
          'check definitions, components, leaders and databases, and the network from every node; ends with 1 when something is wrong',
        )
        .addArgument(new Argument('[type]', 'what to check').choices(types).default('all'))
        .argument('[subject]', 'name of the node or subnet, or ports like tcp-10.0.0.1-80,udp-10.0.0.1-53')
        .option('--only-failed', 'leave out what is well', false),
    ),
  )
  withExamples(command, [
    'kubectl ko diagnose all',
    'kubectl ko diagnose node node-1',
    'kubectl ko diagnose subnet shop',
    'kubectl ko diagnose IPPorts tcp-10.96.0.1-443,udp-10.96.0.10-53',
    'kubectl ko diagnose all --only-failed -o json',
  ]).action(async (type: Subject['type'], name: string | undefined) => {
    const { showDiagnosis } = await import('../actions/diagnose.ts')
    await showDiagnosis(context, command, { type, name })
  })
}
