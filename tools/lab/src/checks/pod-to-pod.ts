import { LabTimeoutError } from '../errors.ts'
import { eventually } from '../kubernetes/wait.ts'
import { untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { runMatrix, type MatrixRow } from '../matrix/run-matrix.ts'
import type { Check, CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { MatrixRuleInput } from '../matrix/declaration.ts'

const party: MatrixRuleInput['from'] = [
  { namespace: 'shop', pods: 'app=web' },
  { namespace: 'stock', pods: 'app=db' },
]

/** Every pair of the six pods of example `01-two-subnets`, in both directions: by listeners of ours, and what the pods serve. */
export const podToPod: Check = {
  name: 'pod to pod',
  async run(cluster) {
    const pods = await sixPods(cluster)
    const rows = await settledRows(cluster, [
      { from: party, to: party, by: ['ping', 'tcp', 'udp'] },
      { from: party, to: party, by: ['http'], port: 8080 },
    ])
    const nodes = new Map(
      pods.map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec.nodeName]),
    )
    const kinds = Map.groupBy(rows, ({ protocol, family, from, to }) => {
      const where = nodes.get(from) === nodes.get(to) ? 'same node' : 'across nodes'
      return `${protocol} ${family === 'ipv4' ? 'IPv4' : 'IPv6'} ${where}`
    })
    return [...kinds].sort(([a], [b]) => a.localeCompare(b)).map(([kind, own]) => kindRow(kind, own))
  },
}

/** What a matrix says once all is as expected, as flows of other nodes follow pods that are Ready; or else what it said last. */
async function settledRows(
  cluster: Cluster,
  rules: readonly MatrixRuleInput[],
): Promise<readonly MatrixRow[]> {
  let last: readonly MatrixRow[] = []
  await eventually('all is as expected', async () => {
    last = (await runMatrix(cluster, rules)).rows
    return last.every(({ verdict }) => verdict === 'as expected') ? true : undefined
  }).catch((error: unknown) => {
    if (!(error instanceof LabTimeoutError)) throw error
  })
  return last
}

/** The pods of example `01-two-subnets`, three in each of two subnets. */
export async function sixPods(cluster: Cluster): Promise<readonly PodObject[]> {
  const groups = await Promise.all([
    untilPodsReady(cluster.api, 'shop', 'app=web', 3),
    untilPodsReady(cluster.api, 'stock', 'app=db', 3),
  ])
  return groups.flat()
}

/** How many pairs are as expected, and which are not. */
export function kindRow(name: string, rows: readonly MatrixRow[]): CheckRow {
  const missing = differingPairs(rows)
  return {
    name,
    expected: `${rows.length} of ${rows.length}`,
    seen: [`${rows.length - missing.length} of ${rows.length}`, ...missing].join('; '),
    isOk: missing.length === 0,
  }
}

/** Pairs that are not as expected, and what became of them. */
export function differingPairs(rows: readonly MatrixRow[]): readonly string[] {
  return rows
    .filter(({ verdict }) => verdict !== 'as expected')
    .map(({ from, to, seen }) => `${from} → ${to}: ${seen}`)
}
