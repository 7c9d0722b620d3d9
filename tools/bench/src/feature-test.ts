import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFixture } from '@kube-ovn/testing-bundle/fixture'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { percentile, rounded } from './statistics.ts'

const fixture = join(import.meta.dirname, '../../../libs/testing/control/src/one-pod.fixture.ts')

const count = 100

/** Tests after which pools are full and code is compiled. */
const settled = 20

/** What the fixture wrote down. */
interface Measured {
  readonly readyMs: number
  readonly testMs: readonly number[]
  readonly resetMs: readonly number[]
  readonly remains: readonly {
    readonly heapBytes: number
    readonly handles: readonly string[]
    readonly processes: number
  }[]
}

/** A whole test of a feature, from the emptied cluster to the controller that has ended, again and again in one worker. */
export const featureTest: Benchmark = {
  name: 'feature-test',
  summary: 'milliseconds of a feature test of one pod, p50 of 100, and what they leave in their worker',
  async run(): Promise<BenchmarkResult> {
    const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-bench-'))
    try {
      const file = join(directory, 'result.json')
      const { exitCode, output } = await runFixture(fixture, {
        ONE_POD_TESTS: `${count}`,
        ONE_POD_RESULT: file,
      })
      if (exitCode !== 0) throw new Error(`the tests failed:\n${output}`)
      return resultOf(JSON.parse(await readFile(file, 'utf8')) as Measured)
    } finally {
      await rm(directory, { recursive: true })
    }
  },
}

function resultOf({ readyMs, testMs, resetMs, remains }: Measured): BenchmarkResult {
  const [early, late] = [remains[settled - 1], remains[count - 1]]
  if (early === undefined || late === undefined) throw new Error('there were fewer tests than expected')
  return {
    value: rounded(percentile(testMs, 0.5)),
    unit: 'ms',
    p99: rounded(percentile(testMs, 0.99)),
    readyMs: rounded(readyMs),
    resetP50: rounded(percentile(resetMs, 0.5)),
    resetP99: rounded(percentile(resetMs, 0.99)),
    heapRatio: rounded(late.heapBytes / early.heapBytes),
    handlesMore: late.handles.length - early.handles.length,
    processesMore: late.processes - early.processes,
  }
}
