import { createBenchNamespace, measurePodCosts } from '@kube-ovn/bench'
import {
  applyAll,
  deleteAll,
  finalChecks,
  listExamples,
  productChecks,
  readExample,
  runCheck,
  runChecks,
} from '@kube-ovn/lab'
import type { CheckGroup, Cluster } from '@kube-ovn/lab'
import { beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

/** The pods of a burst; a benchmark has more. */
const burst = 50

let cluster: Cluster

const describe = describeInLab('enters the namespaces of pods and nodes')

const lab = useSuiteLab({ id: 'e2e', nodes: 2, stack: 'dual' }, { hasLeakTest: true })

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
})

describe('two nodes, dual stack, installed by Helm', () => {
  it('holds every check of the lab', async () => {
    const groups = await runChecks(cluster, productChecks, () => undefined)
    expect(groups.length).toBeGreaterThan(0)
    // Packets and seconds are measured on a machine that others use as well: what did not hold must hold alone.
    const doubtful = productChecks.filter(({ name }) =>
      groups.some((group) => group.name === name && hasFailed(group)),
    )
    for (const text of failures(groups)) console.log(`tried again: ${text}`)
    const again: CheckGroup[] = []
    for (const check of doubtful) again.push(await runCheck(cluster, check))
    expect(
      failures([...again, ...groups.filter((group) => !doubtful.some(({ name }) => name === group.name))]),
    ).toEqual([])
  })

  it('costs one transaction, few writes and no process for a pod', async () => {
    await createBenchNamespace(cluster)
    const { added, deleted, many } = await measurePodCosts(cluster, burst)
    expect(added.transactions).toBe(1)
    expect(added.writes.length).toBeLessThanOrEqual(4)
    expect(added.forks).toBe(0)
    expect(deleted.forks).toBe(0)
    expect(many.transactions / burst).toBeLessThanOrEqual(0.2)
    expect(many.forks).toBe(0)
  })

  it('leaks nothing over all of that, once the examples are deleted', async () => {
    for (const example of listExamples().reverse()) await deleteAll(cluster.api, readExample(example, 'dual'))
    expect(await lab.findLeaks()).toBe('')
  })

  it('leaves nothing behind when it is uninstalled', async () => {
    const groups = await Promise.all(finalChecks.map((check) => runCheck(cluster, check)))
    expect(groups.length).toBeGreaterThan(0)
    expect(failures(groups)).toEqual([])
  })
})

function hasFailed(group: CheckGroup): boolean {
  return group.rows.some(({ isOk }) => !isOk)
}

/** What did not hold, as text, so that the report of a failure says it all. */
function failures(groups: readonly CheckGroup[]): readonly string[] {
  return groups.flatMap(({ name, rows }) =>
    rows
      .filter(({ isOk }) => !isOk)
      .map((row) => `${name}: ${row.name}: expected ${row.expected}, saw ${row.seen}`),
  )
}
