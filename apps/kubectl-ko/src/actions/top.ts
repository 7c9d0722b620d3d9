import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { readFacts } from '../facts.ts'
import { statusView } from '../view/status-view.ts'
import { renderView } from './status.ts'

/** Shows the state live; once where there is no terminal, and where it is said how. */
export async function showTop(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const { stdout, stdin } = process
  const isTold = ['output', 'headers'].some((name) => command.getOptionValueSource(name) === 'cli')
  if (!isTold && context.stdout === stdout && stdout.isTTY && stdin.isTTY) {
    // Only now: it is most of the program.
    const { runTop } = await import('../top/run.ts')
    // https://no-color.org
    const isColoured = (context.environment['NO_COLOR'] ?? '') === ''
    return await runTop(cluster, { stdout, stdin, isColoured }, context.signal)
  }
  print(context, renderView(statusView(await readFacts(cluster), Date.now()), outputOf(command)))
}
