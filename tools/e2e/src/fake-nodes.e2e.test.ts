import { bringUpFakes, fakesCheck, removeFakes, runCheck, type FakePlan } from '@kube-ovn/lab'
import { afterAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const plan: FakePlan =
  process.env['KUBE_OVN_DEEP'] === undefined ? { nodes: 20, pods: 500 } : { nodes: 100, pods: 5000 }
const limitMs = 180_000

const describe = describeInLab('has nodes that are not there')

const lab = useSuiteLab({ id: 'fake-nodes' })

afterAll(() => removeFakes(lab.cluster))

describe('fake nodes and pods', () => {
  it(
    `stand, ${plan.nodes} nodes and ${plan.pods} pods, in at most 3 minutes`,
    { timeout: 2 * limitMs },
    async () => {
      const startedMs = performance.now()
      await bringUpFakes(lab.cluster, plan)
      expect(performance.now() - startedMs).toBeLessThanOrEqual(limitMs)
      const { rows } = await runCheck(lab.cluster, fakesCheck(plan))
      expect(rows.filter(({ isOk }) => !isOk)).toEqual([])
      expect(rows.length).toBeGreaterThan(4)
    },
  )
})
