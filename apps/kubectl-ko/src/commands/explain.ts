import type { Command } from 'commander'
import { findLeader } from '../components.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { ObjectMissingError } from '../errors.ts'
import { explainRow, rowsOfObject, type ExplainedRow } from '../explain/rows.ts'
import { parseQuestion } from '../explain/question.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
import { render, type Column } from '../output.ts'

const columns: readonly Column<ExplainedRow>[] = [
  { title: 'table', of: ({ table }) => table },
  { title: 'row', of: ({ row }) => row.slice(0, 8) },
  { title: 'name', of: ({ name }) => name },
  { title: 'owner', of: ({ owner }) => owner },
  { title: 'is', of: ({ id }) => id },
  { title: 'content', of: ({ content }) => content, isWide: true },
]

/** Adds `explain`: from a row or flow to the object that it is of, and from an object to its rows. */
export function addExplain(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('explain')
        .description('say which object a row or a flow is of, or which rows an object has')
        .argument('<what>', 'identifier of a row, cookie of a flow, or KIND/NAME, KIND/NAMESPACE/NAME'),
    ),
  )
  withExamples(command, [
    'kubectl ko explain 0x9d86efbd',
    'kubectl ko explain ee3e61c0-7e58-4f4a-b979-160fc0c1c85d',
    'kubectl ko explain pod/shop/web-0',
    'kubectl ko explain subnet/shop -o wide',
  ]).action(async (text: string) => {
    const question = parseQuestion(text)
    await using cluster = await openCluster(context, command)
    const northbound = await findLeader(cluster, 'nb')
    const rows =
      question.kind === 'object'
        ? await rowsOfObject(cluster, northbound, question.key)
        : await explainRow(cluster, northbound, await findLeader(cluster, 'sb'), question.id)
    if (question.kind === 'row' && rows.length === 0)
      throw new ObjectMissingError('row', text, 'write it as ovn-nbctl, ovn-sbctl or ovs-ofctl shows it')
    const empty = `no row of the Northbound is of ${text}`
    print(context, render({ data: rows, rows, columns, empty }, outputOf(command)))
    if (rows.length === 0) context.exitCode = 1
  })
}
