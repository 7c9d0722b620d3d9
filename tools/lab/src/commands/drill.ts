import { setTimeout as delay } from 'node:timers/promises'
import { LabUsageError } from '../errors.ts'
import { lossDuring, pathsBetween, renderLoss, type WatchedPath } from '../faults/drill.ts'
import { isBlow } from '../faults/fault.ts'
import { injectFault, strike } from '../faults/inject.ts'
import { parseFault } from '../faults/words.ts'
import { isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { step } from '../report.ts'
import { wholeNumber } from '../topology-flags.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** How long a fault stands that is not said how long; s. */
const defaultSeconds = 3
const maxSeconds = 600

/** `fault drill [SECONDS] FAULT`: breaks something, repairs it, and prints which packets between pods of the example were lost meanwhile. */
export async function drillCommand(cluster: Cluster, words: readonly string[]): Promise<number> {
  const [first = ''] = words
  const isTimed = /^\d+$/.test(first)
  const seconds = isTimed ? wholeNumber('fault drill', first, maxSeconds) : defaultSeconds
  const faultText = isTimed ? words.slice(1) : words
  const fault = parseFault(faultText)
  const losses = await lossDuring(await examplePaths(cluster), () =>
    step(faultText.join(' '), async () => {
      if (isBlow(fault)) return strike(cluster, fault)
      await using _ = await injectFault(cluster, fault)
      await delay(seconds * 1000)
    }),
  )
  process.stdout.write(losses.map((loss) => `${renderLoss(loss)}\n`).join(''))
  return 0
}

/** From each pod of the example's Deployment to each other, both families. */
async function examplePaths(cluster: Cluster): Promise<readonly WatchedPath[]> {
  const path = '/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb'
  const pods = (await cluster.api.list<PodObject>(path)).filter(isPodReady)
  if (pods.length < 2)
    throw new LabUsageError('there are no pods to watch', {
      argument: 'fault drill',
      cure: 'have those of the example: kubectl apply -f docs/examples/01-two-subnets.yaml',
    })
  return pods.flatMap((from) =>
    pods.filter((to) => to !== from).flatMap((to) => pathsBetween(cluster, from, to)),
  )
}
