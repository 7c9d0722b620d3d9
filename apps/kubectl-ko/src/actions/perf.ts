import type { Pod } from '@kube-ovn/kube'
import type { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cluster } from '../cluster.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { render, type Column } from '../output.ts'
import { drawPerf, rateText, timeText, type PerfRow } from '../perf/picture.ts'
import { withPods, type PerfPods } from '../perf/pods.ts'
import { clientProgram, perfPort, type Measured } from '../perf/programs.ts'

interface PerfFlags {
  readonly sizes: string
  readonly seconds: string
  readonly from?: string
  readonly to?: string
  readonly timeout: string
  readonly svg?: string
}

const columns: readonly Column<PerfRow>[] = [
  { title: 'path', of: ({ path }) => path },
  { title: 'size', of: ({ size }) => size },
  { title: 'TCP latency', of: ({ tcpLatencySeconds }) => timeText(tcpLatencySeconds) },
  { title: 'TCP bandwidth', of: ({ tcpBitsPerSecond }) => rateText(tcpBitsPerSecond) },
  { title: 'UDP latency', of: ({ udpLatencySeconds: value }) => value && timeText(value) },
  { title: 'UDP lost', of: ({ udpLostRatio }) => `${(100 * udpLostRatio).toFixed(1)} %` },
  { title: 'UDP bandwidth', of: ({ udpBitsPerSecond }) => rateText(udpBitsPerSecond) },
]

/** Measures, and tells what it measured. */
export async function measurePerf(
  context: Context,
  command: Command,
  image: string | undefined,
): Promise<void> {
  const flags = command.opts<PerfFlags>()
  const sizes = flags.sizes.split(',').map((size) => wholeOf('sizes', size, 16, 65_000))
  const seconds = numberOf('seconds', flags.seconds)
  const timeoutMs = numberOf('timeout', flags.timeout) * 1000
  await using cluster = await openCluster(context, command)
  const { from, to, rows } = await withPods(
    cluster,
    { ...flags, image, timeoutMs },
    context,
    async (made) => ({
      ...(await measureAll(cluster, made, { sizes, seconds }, context)),
      ...{ from: made.from, to: made.to },
    }),
  )
  print(context, render({ data: { from, to, measured: rows }, rows, columns }, outputOf(command)))
  if (flags.svg !== undefined)
    await writeFile(resolve(context.directory, flags.svg), drawPerf(rows, `From ${from} to ${to}`))
}

async function measureAll(
  cluster: Cluster,
  { client, hostClient, targets }: PerfPods,
  { sizes, seconds }: { readonly sizes: readonly number[]; readonly seconds: number },
  { stderr }: Context,
): Promise<{ readonly rows: readonly PerfRow[] }> {
  const paths: readonly (readonly [PerfRow['path'], Pod, string])[] = [
    ['pod', client, targets.pod],
    ['host', hostClient, targets.host],
    ['service', client, targets.service],
  ]
  const rows: PerfRow[] = []
  // One after the other: they share the machines.
  for (const [path, source, host] of paths) {
    for (const size of sizes) {
      stderr.write(`measuring ${path} with messages of ${size} bytes\n`)
      const where = { namespace: cluster.namespace, pod: source.metadata.name, container: 'perf' }
      const text = await cluster.tell(where, [
        'node',
        '-e',
        clientProgram({ host, port: perfPort, size, seconds }),
      ])
      rows.push({ path, size, ...(JSON.parse(text) as Measured) })
    }
  }
  return { rows }
}

function numberOf(field: string, text: string): number {
  const value = Number(text)
  if (text !== '' && value > 0 && value <= 3600) return value
  throw new UsageError(field, text, 'write a number from 0 to 3600, but not 0')
}

function wholeOf(field: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new UsageError(field, text, `write whole numbers from ${least} to ${most}, separated by commas`)
}
