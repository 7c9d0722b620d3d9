import { addresses } from './addresses.ts'
import { badInput } from './bad-input.ts'
import { beyondPods } from './beyond-pods.ts'
import { drift } from './drift.ts'
import { createForeignRows, foreignRow } from './foreign-rows.ts'
import { kubelet } from './kubelet.ts'
import { podToPod } from './pod-to-pod.ts'
import { restarts } from './restarts.ts'
import { uninstall } from './uninstall.ts'
import { upgrade } from './upgrade.ts'
import { claimRow, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** In the order in which they are run; those that remove the product come last. */
export const productChecks: readonly Check[] = [
  podToPod,
  beyondPods,
  kubelet,
  addresses,
  restarts,
  drift,
  badInput,
  upgrade,
]

/** Runs only when the lab is not to be kept. */
export const finalChecks: readonly Check[] = [uninstall]

export interface CheckGroup {
  readonly name: string
  readonly rows: readonly CheckRow[]
  readonly ms: number
}

/**
 * Runs checks one after the other, since each measures, and tells after each what it found.
 *
 * A check that could not be carried out is a row that failed, with the reason.
 */
export async function runChecks(
  cluster: Cluster,
  checks: readonly Check[],
  onDone: (group: CheckGroup) => void,
): Promise<readonly CheckGroup[]> {
  const foreign = await createForeignRows(cluster)
  const groups: CheckGroup[] = []
  const record = (group: CheckGroup): void => {
    groups.push(group)
    onDone(group)
  }
  for (const check of checks) record(await runCheck(cluster, check))
  const since = performance.now()
  record({ name: 'foreign rows', rows: [await foreignRow(cluster, foreign)], ms: performance.now() - since })
  return groups
}

/** Runs one check. */
export async function runCheck(cluster: Cluster, check: Check): Promise<CheckGroup> {
  const since = performance.now()
  const rows = await check.run(cluster).catch((error: unknown) => [failureRow(error)])
  return { name: check.name, rows, ms: performance.now() - since }
}

function failureRow(error: unknown): CheckRow {
  const details = error instanceof Error && 'details' in error ? ` ${JSON.stringify(error.details)}` : ''
  return claimRow('the check could be carried out', false, 'carried out', `${String(error)}${details}`)
}
