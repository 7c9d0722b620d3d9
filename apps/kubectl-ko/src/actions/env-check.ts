import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { checkEnvironment } from '../diagnose/environment.ts'
import { findingColumns, verdictOf } from '../diagnose/finding.ts'
import { renderData, renderTable } from '../output.ts'

/** Tells what of the nodes may be in the way of the network. */
export async function showEnvironment(
  context: Context,
  command: Command,
  node: string | undefined,
): Promise<void> {
  await using cluster = await openCluster(context, command)
  const findings = await checkEnvironment(cluster, node)
  const { output, headers: hasHeaders } = outputOf(command)
  const verdict = verdictOf(findings)
  print(
    context,
    output === 'json' || output === 'yaml'
      ? renderData({ verdict, findings }, output)
      : `${renderTable(findings, findingColumns, { hasHeaders })}\n${verdict}\n`,
  )
  if (findings.some(({ isGood }) => !isGood)) context.exitCode = 1
}
