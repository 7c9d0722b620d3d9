import { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, tryParseIp } from '@kube-ovn/ip'
import type { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cluster } from '../cluster.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { describeError } from '../describe-error.ts'
import { eachOf } from '../diagnose/finding.ts'
import { runningPingers } from '../diagnose/pinger.ts'
import { drawReachability, reachabilityTable, type Reached } from '../diagnose/reachability.ts'
import { renderData, renderTable, type Column } from '../output.ts'

interface MatrixOptions {
  readonly of: 'pods' | 'nodes'
  readonly svg?: string
}

/** Tells who reaches whom. */
export async function showMatrix(context: Context, command: Command): Promise<void> {
  const { of, svg } = command.opts<MatrixOptions>()
  await using cluster = await openCluster(context, command)
  const { reached, silent } = await measure(cluster)
  const shown = reached.filter(({ kind }) => kind === (of === 'pods' ? 'pod' : 'node'))
  const { output, headers: hasHeaders } = outputOf(command)
  const { names, rows } = reachabilityTable(shown)
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: 'from \\ to, ms', of: ({ from }) => from },
    ...names.map((to) => ({ title: to, of: ({ cells }: (typeof rows)[number]) => cells.get(to) })),
  ]
  print(
    context,
    output === 'json' || output === 'yaml'
      ? renderData({ measured: shown, silent }, output)
      : renderTable(rows, columns, { hasHeaders }),
  )
  if (svg !== undefined)
    await writeFile(resolve(context.directory, svg), drawReachability(shown, `Round trip of ${of}, ms`))
  for (const { node, reason } of silent) context.stderr.write(`kubectl-ko: ${node}: ${reason}\n`)
  if (silent.length > 0 || shown.some(({ lost }) => lost > 0)) context.exitCode = 1
}

interface Reported {
  readonly check: string
  readonly address?: string
  readonly node?: string
  readonly sent?: number
  readonly lost?: number
  readonly ms?: number
}

async function measure(cluster: Cluster): Promise<{
  readonly reached: readonly Reached[]
  /** Whose pinger could not be asked, and why. */
  readonly silent: readonly { readonly node: string; readonly reason: string }[]
}> {
  const pingers = await runningPingers(cluster)
  const silent: { readonly node: string; readonly reason: string }[] = []
  const found = await eachOf(pingers, async ({ metadata: { namespace = '', name }, spec }) => {
    const from = spec.nodeName ?? ''
    try {
      const text = await cluster.tell({ namespace, pod: name, container: 'pinger' }, [
        ...['node', '/kube-ovn/pinger.mjs', '--mode=job', '--output=json', '--exit-code=0'],
        ...['--network-mode=none', '--internal-dns='],
      ])
      return (JSON.parse(text) as readonly Reported[]).flatMap((one) => reachedOf(from, one))
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      silent.push({ node: from, reason: describeError(error) })
      return []
    }
  })
  return { reached: found.flat(), silent }
}

function reachedOf(
  from: string,
  { check, address = '', node, sent = 0, lost = 0, ms }: Reported,
): readonly Reached[] {
  const ip = tryParseIp(address)
  if ((check !== 'pod' && check !== 'node') || node === undefined || ip === undefined) return []
  return [{ from, to: node, kind: check, family: familyOf(ip), sent, lost, ms }]
}
