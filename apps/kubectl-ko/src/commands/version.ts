import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `version`: those of this program, of the components and of Kubernetes. */
export function addVersion(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('version')
        .description('show versions of this program, the components and Kubernetes, and whether they fit'),
    ),
  )
  withExamples(command, ['kubectl ko version', 'kubectl ko version -o json']).action(async () => {
    const { showVersions } = await import('../actions/version.ts')
    await showVersions(context, command)
  })
}
