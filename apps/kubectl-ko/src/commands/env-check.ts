import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { checkEnvironment } from '../diagnose/environment.ts'
import { findingColumns, verdictOf } from '../diagnose/finding.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
import { renderData, renderTable } from '../output.ts'

/** Adds `env-check`: what of the nodes may be in the way of the network. */
export function addEnvCheck(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('env-check')
        .description(
          'look on the nodes for what is known to be in the way: other plugins, kernel settings, checksum errors, search domains, security software; ends with 1 when it finds some',
        )
        .argument('[node]', 'only this one'),
    ),
  )
  withExamples(command, ['kubectl ko env-check', 'kubectl ko env-check node-1 -o json']).action(
    async (node: string | undefined) => {
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
    },
  )
}
