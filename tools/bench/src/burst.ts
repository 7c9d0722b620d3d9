import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane } from './control-plane.ts'
import { rounded } from './statistics.ts'

const nodeCount = 100
const few = 1_000
const many = 10_000
/** NetworkPolicies that each pod is under. */
const groups = 5

/** What a burst cost the controller, seen from outside. */
interface Burst {
  readonly podsPerSecond: number
  readonly cpuSeconds: number
  readonly transactions: number
  readonly writes: number
  readonly peakMib: number
}

/** Pods that are all created at once, until the last has its address and its port. */
export const burst: Benchmark = {
  name: 'burst',
  summary:
    'pods a second when 1,000 are created at once, what they cost, under 5 policies, and the same with 10,000',
  async run(): Promise<BenchmarkResult> {
    const small = await measure(few)
    const grouped = await measure(few, groups)
    const large = await measure(many)
    return {
      value: rounded(small.podsPerSecond),
      unit: 'pods/s',
      cpuSeconds: rounded(small.cpuSeconds),
      grouped: rounded(grouped.podsPerSecond / small.podsPerSecond),
      transactionsPerPod: rounded(small.transactions / few),
      apiWritesPerPod: rounded(small.writes / few),
      ratio10000: rounded(large.podsPerSecond / small.podsPerSecond),
      podsPerSecond10000: rounded(large.podsPerSecond),
      cpuSeconds10000: rounded(large.cpuSeconds),
      transactionsPerPod10000: rounded(large.transactions / many),
      apiWritesPerPod10000: rounded(large.writes / many),
      peakMib10000: rounded(large.peakMib),
    }
  },
}

async function measure(count: number, policies = 0): Promise<Burst> {
  await using plane = await ControlPlane.start(nodeCount)
  await plane.createPolicies(policies)
  await using controller = plane.startController()
  await controller.untilQuiet()
  const cpuBefore = controller.cpuSeconds
  const transactionsBefore = await plane.northbound.transactions()
  await plane.api.forgetWrites()
  console.log(`creating ${count} pods`)
  const startedMs = performance.now()
  await Promise.all([plane.createPods(count), plane.untilAllocated()])
  const seconds = (performance.now() - startedMs) / 1000
  await controller.untilQuiet()
  const writes = await plane.writes()
  const result = {
    podsPerSecond: count / seconds,
    cpuSeconds: controller.cpuSeconds - cpuBefore,
    transactions: (await plane.northbound.transactions()) - transactionsBefore,
    writes: writes.length,
    peakMib: controller.rssMib.peak,
  }
  console.log(`${count} pods in ${rounded(seconds)} s`, result)
  return result
}
