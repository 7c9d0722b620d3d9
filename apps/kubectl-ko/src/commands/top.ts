import type { Command } from 'commander'
import { openCluster, print, type Context } from '../context.ts'
import { readFacts } from '../facts.ts'
import { withClusterOptions, withExamples } from '../options.ts'
import { statusView } from '../view/status-view.ts'
import { renderStatus } from './status.ts'

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
    await using cluster = await openCluster(context, command)
    const { stdout, stdin } = process
    if (context.stdout === stdout && stdout.isTTY && stdin.isTTY) {
      // Only now: it is most of the program.
      const { runTop } = await import('../top/run.ts')
      // https://no-color.org
      const isColoured = (context.environment['NO_COLOR'] ?? '') === ''
      return await runTop(cluster, { stdout, stdin, isColoured }, context.signal)
    }
    print(
      context,
      renderStatus(statusView(await readFacts(cluster), Date.now()), { isWide: false, hasHeaders: true }),
    )
  })
}
