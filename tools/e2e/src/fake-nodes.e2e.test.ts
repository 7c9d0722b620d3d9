import {
  bringUpFakes,
  claimLabName,
  createCluster,
  fakesCheck,
  installChart,
  removeLeftovers,
  runCheck,
  type FakePlan,
} from '@kube-ovn/lab'
import type { Cluster } from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'

const plan: FakePlan =
  process.env['KUBE_OVN_DEEP'] === undefined ? { nodes: 20, pods: 500 } : { nodes: 100, pods: 5000 }
const limitMs = 180_000

let cluster: Cluster

beforeAll(async () => {
  await removeLeftovers()
  await claimLabName('fake-nodes')
  cluster = await createCluster({ id: 'fake-nodes' })
  await installChart(cluster)
})

afterAll(() => cluster[Symbol.asyncDispose]())

it(
  `stands with ${plan.nodes} nodes and ${plan.pods} pods that are not there in at most 3 minutes`,
  { timeout: 2 * limitMs },
  async () => {
    const startedMs = performance.now()
    await bringUpFakes(cluster, plan)
    expect(performance.now() - startedMs).toBeLessThanOrEqual(limitMs)
    const { rows } = await runCheck(cluster, fakesCheck(plan))
    expect(rows.filter(({ isOk }) => !isOk)).toEqual([])
    expect(rows.length).toBeGreaterThan(4)
  },
)
