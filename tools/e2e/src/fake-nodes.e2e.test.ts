import { bringUpFakes, fakesCheck, removeFakes, runCheck, type FakePlan } from '@kube-ovn/lab'
import { afterAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const plan: FakePlan =
  process.env['KUBE_OVN_DEEP'] === undefined ? { nodes: 20, pods: 500 } : { nodes: 100, pods: 5000 }
/** What they may take on a machine that does nothing else. */
const askedMs = 180_000

const describe = describeInLab('has nodes that are not there')

const lab = useSuiteLab({ id: 'fake-nodes' })

afterAll(() => removeFakes(lab.cluster))

describe('fake nodes and pods', () => {
  it(`stand, ${plan.nodes} nodes and ${plan.pods} pods`, { timeout: 5 * askedMs }, async () => {
    const startedMs = performance.now()
    await bringUpFakes(lab.cluster, plan)
    const seconds = (ms: number): string => (ms / 1000).toFixed(0)
    console.log(`they stand after ${seconds(performance.now() - startedMs)} s of ${seconds(askedMs)} s`)
    const { rows } = await runCheck(lab.cluster, fakesCheck(plan))
    expect(rows.filter(({ isOk }) => !isOk)).toEqual([])
    expect(rows.length).toBeGreaterThan(4)
  })
})
