import { step } from '../report.ts'
import { renderObservation, startObservation } from '../observe/observation.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createPlacedPods, createPodNamespace, fakePods } from './fake-pods.ts'
import { fakeNamespace, type FakePlan } from './plan.ts'
import { PodTally } from './pod-tally.ts'
import { untilPortsUp } from './ports-up.ts'
import { startFakeNodes } from './start-fake-nodes.ts'

/** Adds fake nodes and pods, and prints how long each step took and what it cost whom. */
export async function bringUpFakes(cluster: Cluster, plan: FakePlan): Promise<void> {
  const endObservation = await startObservation(cluster)
  await step(`${plan.nodes} fake nodes Ready, with addresses`, () => startFakeNodes(cluster, plan.nodes))
  if (plan.pods > 0) {
    await createPodNamespace(cluster, fakeNamespace)
    await using tally = PodTally.start(cluster, fakeNamespace)
    const pods = fakePods(fakeNamespace, plan.pods, plan.nodes)
    await step(`${plan.pods} fake pods created`, () => createPlacedPods(cluster, pods))
    await step('all of them have addresses', () => tally.until('addressed', plan.pods))
    await step('all of them are Ready', () => tally.until('ready', plan.pods))
    await step('all of their ports are up', () => untilPortsUp(cluster, fakeNamespace, plan.pods))
  }
  process.stdout.write(renderObservation(await endObservation()))
}
