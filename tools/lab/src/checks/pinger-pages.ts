import type { Cluster, LabNode } from '../cluster/cluster.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import { samplesOf } from '../observe/metrics.ts'
import { fetchText } from '../probe/tcp.ts'
import { happensRow, nodeOf, type CheckRow } from './check.ts'

const port = 8080
/** A few rounds of a machine that has much else to do. */
const patience = { timeoutMs: 90_000, pauseMs: 500 }

/** What a pinger shows. */
export interface PingerPage {
  readonly pod: PodObject
  readonly node: LabNode
  readonly page: string
}

/** What the pingers show, asked from their own nodes: no fault of a lab is between them. */
export function readPages(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly PingerPage[]> {
  return Promise.all(
    pods.map(async (pod) => {
      const node = nodeOf(cluster, pod)
      const [address = ''] = addressesOfPod(pod)
      return { pod, node, page: (await fetchText(node.place, address, port, '/metrics')) ?? '' }
    }),
  )
}

/** Names of all checks of the last round. */
export function doneChecks(page: string): ReadonlySet<string> {
  return new Set(samplesOf(page, 'pinger_check_failed').map(({ labels }) => labels['check'] ?? ''))
}

/** Names of those that failed. */
export function failedChecks(page: string): ReadonlySet<string> {
  const failed = samplesOf(page, 'pinger_check_failed').filter(({ value }) => value === 1)
  return new Set(failed.map(({ labels }) => labels['check'] ?? ''))
}

/** A row that holds once all pingers show something; else it says what failed the last time. */
export async function seenRow(
  cluster: Cluster,
  pods: readonly PodObject[],
  name: string,
  isSeen: (one: PingerPage) => boolean,
): Promise<CheckRow> {
  let last = ''
  const row = await happensRow(name, 'shown', () =>
    eventually(
      name,
      async () => {
        const pages = await readPages(cluster, pods)
        last = pages
          .map(({ node, page }) => `${node.name}: ${[...failedChecks(page)].join(' ') || 'none'}`)
          .join(', ')
        return pages.every(isSeen) ? true : undefined
      },
      patience,
    ),
  )
  return row.isOk ? row : { ...row, seen: `${row.seen}; failed ${last}` }
}
