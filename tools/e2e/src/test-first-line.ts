import { createBenchNamespace, measurePodCosts } from '@kube-ovn/bench'
import {
  applyAll,
  deleteAll,
  finalChecks,
  listExamples,
  productChecks,
  readExample,
  runCheck,
} from '@kube-ovn/lab'
import type { Cluster } from '@kube-ovn/lab'
import { beforeAll, expect, it } from 'vitest'
import { failures, findFailures } from './check-failures.ts'
import { describeInLab } from './describe-in-lab.ts'
import type { NamedTopology } from './ready-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

/** The pods of a burst; a benchmark has more. */
const burst = 50

const describe = describeInLab('enters the namespaces of pods and nodes')

/**
 * Tests all that the lab checks, what a pod costs, that nothing leaks and that nothing is left in the end, on a lab of two nodes and both
 * families.
 *
 * @param skipped why it is skipped; absent where it is not
 */
export function testFirstLine(title: string, topology: NamedTopology, skipped?: string): void {
  let cluster: Cluster
  const lab =
    skipped === undefined
      ? useSuiteLab({ nodes: 2, stack: 'dual', ...topology }, { hasLeakTest: true })
      : undefined

  beforeAll(async () => {
    if (lab === undefined) return
    ;({ cluster } = lab)
    await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  })

  describe(title, () => {
    it('holds every check of the lab', async ({ skip }) => {
      skip(skipped !== undefined, skipped)
      expect(await findFailures(cluster, productChecks)).toEqual([])
    })

    it('costs one transaction, few writes and no process for a pod', async ({ skip }) => {
      skip(skipped !== undefined, skipped)
      await createBenchNamespace(cluster)
      const { added, deleted, many } = await measurePodCosts(cluster, burst)
      expect(added.transactions).toBe(1)
      expect(added.writes.length).toBeLessThanOrEqual(4)
      expect(added.forks).toBe(0)
      expect(deleted.forks).toBe(0)
      // How many share one depends on how fast the API server takes them; that is held where they come at once.
      expect(many.transactions).toBeLessThanOrEqual(burst)
      // Where agents serve Services, they start nft when endpoints come and go, as those of others do on a slow machine.
      if (cluster.topology.proxyMode !== 'none') expect(many.forks).toBe(0)
    })

    it('leaks nothing over all of that, once the examples are deleted', async ({ skip }) => {
      skip(skipped !== undefined, skipped)
      for (const example of listExamples().reverse())
        await deleteAll(cluster.api, readExample(example, 'dual'))
      expect(await lab?.findLeaks()).toBe('')
    })

    it('leaves nothing behind when it is uninstalled', async ({ skip }) => {
      skip(skipped !== undefined, skipped)
      const groups = await Promise.all(finalChecks.map((check) => runCheck(cluster, check)))
      expect(groups.length).toBeGreaterThan(0)
      expect(failures(groups)).toEqual([])
    })
  })
}
