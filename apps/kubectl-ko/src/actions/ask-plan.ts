import type { ManifestObject, PlannedAddress, PlannedRow } from '@kube-ovn/assembly-controller'
import type { Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { stringifyJson } from '@kube-ovn/kube'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { renderData, renderTable, type Column } from '../output.ts'
import { askForPlan, type ToldPlan } from '../plan/ask.ts'
import { readManifest } from '../plan/manifest.ts'

interface PlanOptions {
  readonly filename: readonly string[]
  readonly delete: boolean
  readonly namespace: string
}

const rowColumns: readonly Column<PlannedRow>[] = [
  { title: 'would', of: ({ action }) => action },
  { title: 'table', of: ({ table }) => table },
  { title: 'row', of: ({ row }) => row },
  { title: 'columns', of: ({ columns }) => columns.join(',') },
  { title: 'owner', of: ({ owner }) => owner, isWide: true },
  { title: 'content', of: contentText, isWide: true },
]

/** `match="ip4", +addresses=["10.0.0.2"], -addresses=["10.0.0.3"]` */
function contentText({ values, gets, loses }: PlannedRow): string {
  const parts = [
    ['', values],
    ['-', loses],
    ['+', gets],
  ] as const
  return parts
    .flatMap(([sign, columns]) =>
      Object.entries(columns)
        .filter(([column]) => column !== 'external_ids')
        .map(([column, value]) => `${sign}${column}=${stringifyJson(value)}`),
    )
    .join(', ')
}

const addressColumns: readonly Column<PlannedAddress>[] = [
  { title: 'would take', of: ({ address }) => address },
  { title: 'of', of: ({ subnet }) => subnet },
  { title: 'for', of: ({ record }) => record },
  { title: 'mac', of: ({ mac }) => mac, isWide: true },
]

/** Tells what a manifest would change. */
export async function showPlan(context: Context, command: Command): Promise<void> {
  const { filename, delete: isDeletion, namespace } = command.opts<PlanOptions>()
  const objects = (await Promise.all(filename.map((name) => readObjects(context, name)))).flat()
  await using cluster = await openCluster(context, command)
  const plan = await askForPlan(cluster, { objects, verb: isDeletion ? 'delete' : 'apply', namespace })
  const { output, headers: hasHeaders } = outputOf(command)
  print(
    context,
    output === 'json' || output === 'yaml'
      ? renderData(plan, output)
      : renderPlan(plan, { isWide: output === 'wide', hasHeaders }),
  )
  if (plan.refusals.length > 0) context.exitCode = 1
}

async function readObjects(context: Context, name: string): Promise<readonly ManifestObject[]> {
  if (name === '-') return readManifest(await text(context.stdin), 'standard input')
  const path = resolve(context.directory, name)
  const content = await readFile(path, 'utf8').catch(() => {
    throw new UsageError('filename', path, 'write the path of a manifest')
  })
  return readManifest(content, path)
}

/** For people. */
function renderPlan(
  { rows, addresses, writes, refusals, waits, ignored, notes }: ToldPlan,
  options: { readonly isWide: boolean; readonly hasHeaders: boolean },
): string {
  const count = (action: PlannedRow['action']): number => rows.filter((row) => row.action === action).length
  const lines = [
    ...refusals.map(({ owner, problem }) => `refused, ${owner}: ${problem}\n`),
    ...waits.map(({ owner, rows }) => `waits, ${owner}: for ${rows.join(', ')}\n`),
    ...ignored.map((name) => `decides nothing: ${name}\n`),
    ...notes.map((note) => `${note}\n`),
  ].join('')
  return [
    ...(rows.length === 0 ? [] : [renderTable(rows, rowColumns, options)]),
    ...(addresses.length === 0 ? [] : [renderTable(addresses, addressColumns, options)]),
    ...(lines === '' ? [] : [lines]),
    `${count('add')} rows to add, ${count('change') + count('adopt')} to change, ${count('remove')} to remove; ${addresses.length} addresses to take; ${writes.length} writes to objects\n`,
  ].join('\n')
}
