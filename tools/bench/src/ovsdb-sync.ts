import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { addBlock, rowsPerBlock } from './northbound-content.ts'
import { percentile, rounded } from './statistics.ts'
import type { SyncReport } from './sync-probe.ts'

const probe = join(import.meta.dirname, 'sync-probe.ts')
const rounds = 5

/** So many blocks make a dump of more than 100 MB. */
const largeBlocks = 5

/** Compares what it takes to mirror a database with what `ovsdb-client dump` takes to print it, in turns on the same server. */
export const ovsdbSync: Benchmark = {
  name: 'ovsdb-sync',
  summary: `time from connecting to a usable cache of ${rowsPerBlock} rows, divided by that of ovsdb-client dump`,
  async run(): Promise<BenchmarkResult> {
    await using northbound = await startNorthbound()
    console.log(`writing ${rowsPerBlock} rows`)
    await addBlock(northbound.address, 0)
    const dumps: number[] = []
    const reports: SyncReport[] = []
    for (let round = 1; round <= rounds; round++) {
      dumps.push(await northbound.server.timeDump())
      const report = await synchronise(northbound.address)
      reports.push(report)
      console.log(
        `round ${round} of ${rounds}: ${Math.round(report.ms)} ms (dump ${Math.round(dumps.at(-1) ?? 0)} ms), ` +
          `longest stall ${Math.round(report.stallMs)} ms, ${Math.round(report.bytesPerRow)} bytes per row`,
      )
    }
    console.log(`writing ${(largeBlocks - 1) * rowsPerBlock} rows more`)
    for (let block = 1; block < largeBlocks; block++) await addBlock(northbound.address, block)
    const large = await synchronise(northbound.address)
    const median = (field: keyof SyncReport): number =>
      rounded(
        percentile(
          reports.map((report) => report[field]),
          0.5,
        ),
      )
    return {
      value: rounded(median('ms') / percentile(dumps, 0.5)),
      unit: 'ratio',
      rows: median('rows'),
      ms: median('ms'),
      dumpMs: rounded(percentile(dumps, 0.5)),
      bytesPerRow: median('bytesPerRow'),
      stallMs: rounded(Math.max(...reports.map(({ stallMs }) => stallMs))),
      cpuSeconds: median('cpuSeconds'),
      peakRssMib: median('peakRssMib'),
      lookupNs: median('lookupNs'),
      joinCpuMs: median('joinCpuMs'),
      stall100MbMs: rounded(large.stallMs),
      ms100Mb: rounded(large.ms),
      peakRss100MbMib: rounded(large.peakRssMib),
    }
  },
}

async function synchronise(address: string): Promise<SyncReport> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', probe, address])
  return JSON.parse(stdout) as SyncReport
}
