import { addresses } from './addresses.ts'
import { agentToken } from './agent-token.ts'
import { apiToPods } from './api-to-pods.ts'
import { badInput } from './bad-input.ts'
import { beyondPods } from './beyond-pods.ts'
import { drift } from './drift.ts'
import { createForeignRows, foreignRow, removeForeignRows, type ForeignRows } from './foreign-rows.ts'
import { kubelet } from './kubelet.ts'
import { monitor } from './monitor.ts'
import { networkAttachments } from './network-attachments.ts'
import { networkPolicies } from './network-policies.ts'
import { physicalNetwork } from './physical-network.ts'
import { pinger } from './pinger.ts'
import { podToPod } from './pod-to-pod.ts'
import { restarts } from './restarts.ts'
import { services } from './services.ts'
import { seenCluster } from './seen-cluster.ts'
import { takenOverAddress } from './taken-over-address.ts'
import { underlay } from './underlay.ts'
import { uninstall } from './uninstall.ts'
import { upgrade } from './upgrade.ts'
import { vpcs } from './vpcs.ts'
import { claimRow, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** In the order in which they are run; those that remove the product come last. */
export const productChecks: readonly Check[] = [
  podToPod,
  beyondPods,
  services,
  kubelet,
  apiToPods,
  addresses,
  takenOverAddress,
  agentToken,
  physicalNetwork,
  underlay,
  networkAttachments,
  vpcs,
  networkPolicies,
  monitor,
  pinger,
  seenCluster,
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
 * Foreign rows are watched over all checks but the final ones, which remove the database.
 */
export async function runChecks(
  cluster: Cluster,
  checks: readonly Check[],
  onDone: (group: CheckGroup) => void,
): Promise<readonly CheckGroup[]> {
  const ofProduct = checks.filter((check) => !finalChecks.includes(check))
  const chosen =
    ofProduct.length === 0
      ? checks
      : [...withForeignRows(ofProduct), ...checks.filter((check) => finalChecks.includes(check))]
  const groups: CheckGroup[] = []
  for (const check of chosen) {
    const group = await runCheck(cluster, check)
    groups.push(group)
    onDone(group)
  }
  return groups
}

/** The checks, between one that writes rows of somebody else and one that looks at them. */
function withForeignRows(checks: readonly Check[]): readonly Check[] {
  let foreign: ForeignRows | undefined
  return [
    {
      name: 'foreign rows are made',
      async run(cluster) {
        foreign = await createForeignRows(cluster)
        return []
      },
    },
    ...checks,
    {
      name: 'foreign rows',
      async run(cluster) {
        if (foreign === undefined) return []
        const row = await foreignRow(cluster, foreign)
        await removeForeignRows(cluster)
        return [row]
      },
    },
  ]
}

/** Runs one check; one that could not be carried out is a row that failed, with the reason. */
export async function runCheck(cluster: Cluster, check: Check): Promise<CheckGroup> {
  const since = performance.now()
  const rows = await check.run(cluster).catch((error: unknown) => [failureRow(error)])
  return { name: check.name, rows, ms: performance.now() - since }
}

function failureRow(error: unknown): CheckRow {
  const details = error instanceof Error && 'details' in error ? ` ${JSON.stringify(error.details)}` : ''
  return claimRow('the check could be carried out', false, 'carried out', `${String(error)}${details}`)
}
