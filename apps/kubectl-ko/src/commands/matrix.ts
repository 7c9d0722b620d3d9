import { Option, type Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `matrix`: who reaches whom, and how fast, measured by the pingers now. */
export function addMatrix(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('matrix')
        .description(
          'show who reaches whom, and in how many milliseconds, as the pingers of all nodes measure it now; ends with 1 when a packet is lost',
        )
        .addOption(new Option('--of <what>', 'what is asked').choices(['pods', 'nodes']).default('pods'))
        .option('--svg <file>', 'draw it as well'),
    ),
  )
  withExamples(command, [
    'kubectl ko matrix',
    'kubectl ko matrix --of nodes -o json',
    'kubectl ko matrix --svg matrix.svg',
  ]).action(async () => {
    const { showMatrix } = await import('../actions/matrix.ts')
    await showMatrix(context, command)
  })
}
