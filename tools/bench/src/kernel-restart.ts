import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane } from './control-plane.ts'
import { rounded } from './statistics.ts'

const nodeCount = 100
const podCount = 10_000

/** A controller that starts on what the one before it left. */
export const kernelRestart: Benchmark = {
  name: 'kernel-restart',
  summary: 'seconds from the start of a controller until it has served a new pod, with 10,000 pods in place',
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(nodeCount)
    await plane.populate(podCount)
    await plane.api.forgetWrites()
    const transactionsBefore = await plane.northbound.transactions()
    console.log('starting the controller again, and creating a pod')
    const startedMs = performance.now()
    await using second = plane.startController()
    await plane.createPods(1)
    await plane.untilAllocated()
    const seconds = (performance.now() - startedMs) / 1000
    await second.untilQuiet()
    const writes = await plane.writes()
    const result = {
      value: rounded(seconds),
      unit: 's',
      // One of them is the new pod's.
      transactions: (await plane.northbound.transactions()) - transactionsBefore - 1,
      apiWrites: writes.length,
      cpuSeconds: rounded(second.cpuSeconds),
      rssMib: rounded(second.rssMib.now),
      peakMib: rounded(second.rssMib.peak),
    }
    console.log(
      Object.entries(Object.groupBy(writes, ({ verb, resource }) => `${verb} ${resource}`))
        .map(([what, all]) => `${all?.length ?? 0} × ${what}`)
        .join(', '),
    )
    return result
  },
}
