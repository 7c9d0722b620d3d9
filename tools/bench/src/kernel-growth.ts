import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane } from './control-plane.ts'
import { rounded } from './statistics.ts'

const nodeCount = 100
const few = 1_000
const many = 20_000

/** Whether a pod costs more when there are many others: the last thousand of twenty against the first. */
export const kernelGrowth: Benchmark = {
  name: 'kernel-growth',
  summary: 'processor time of a pod among 20,000, in that of a pod among 1,000',
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(nodeCount)
    await using controller = plane.startController()
    await controller.untilQuiet()
    async function cpuOf(count: number): Promise<number> {
      const before = controller.cpuSeconds
      await Promise.all([plane.createPods(count), plane.untilAllocated()])
      await controller.untilQuiet()
      return controller.cpuSeconds - before
    }
    // Machine code is made in the first seconds, whatever they are spent on.
    await cpuOf(few)
    const first = await cpuOf(few)
    console.log(`pods ${few} to ${2 * few}: ${rounded(first)} s of processor time`)
    const between = await cpuOf(many - 3 * few)
    console.log(`pods ${2 * few} to ${many - few}: ${rounded(between)} s`)
    const last = await cpuOf(few)
    console.log(`pods ${many - few} to ${many}: ${rounded(last)} s`)
    return {
      value: rounded(last / first),
      unit: 'ratio',
      cpuMsPerPodAt1000: rounded((first / few) * 1000),
      cpuMsPerPodAt20000: rounded((last / few) * 1000),
      meanRatio: rounded((first + between + last) / (many - few) / (first / few)),
      rssMib: rounded(controller.rssMib.now),
      peakMib: rounded(controller.rssMib.peak),
    }
  },
}
