import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { clusterEvidence, findLeaks, findUnexplainedRows, renderDifferences } from '@kube-ovn/lab'
import type { Cluster, LabNode, Snapshot } from '@kube-ovn/lab'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { refuseUnexplainedRows } from './explained-rows.ts'
import type { ReadyLab } from './free-labs.ts'
import { chosenFor, closeReadyLab, openReadyLab, type NamedTopology, type Preparation } from './ready-lab.ts'

/** The lab of the suites in one file. */
export interface SuiteLab {
  readonly cluster: Cluster
  /** From here on, what was there before counts as it would look now that a node has other addresses. Nobody else gets the lab. */
  hasMoved(from: LabNode, to: LabNode): void
  /** What is there that was not there when the lab was ready, and the other way round, to be read; nothing if nothing is. */
  findLeaks(timeoutMs?: number): Promise<string>
}

/**
 * Gives the suites of a file a lab with the chart and a DNS, which goes to the next file that wants such a one, or goes.
 *
 * A test that fails leaves a bundle, and one fails that leaves a row in the Northbound which is of no object. When all are done and have cleaned up, in `afterAll` at the latest, what is there must be what was there
 * before the first; to be called before any `afterAll` of the file, since the last one that is declared is the first one that runs.
 *
 * @param hasLeakTest a test looks for leaks, because another one takes the product away in the end
 */
export function useSuiteLab(
  topology: NamedTopology,
  { hasLeakTest = false, ...preparation }: Preparation & { readonly hasLeakTest?: boolean } = {},
): SuiteLab {
  const wanted = chosenFor(topology)
  let ready: ReadyLab | undefined
  let isSame = true

  beforeAll(async () => {
    ready = await openReadyLab(wanted, preparation)
  })

  beforeEach(() => leaveBundleOnFailure(clusterEvidence(existing(ready).cluster)))

  refuseUnexplainedRows(() => findUnexplainedRows(existing(ready).cluster))

  const lab: SuiteLab = {
    get cluster() {
      return existing(ready).cluster
    },
    hasMoved(from, to) {
      const { cluster, before } = existing(ready)
      ready = { cluster, before: renamed(before, addressPairs(from, to)) }
      isSame = false
    },
    async findLeaks(timeoutMs) {
      const { cluster, before } = existing(ready)
      return renderDifferences(await findLeaks(cluster, before, timeoutMs))
    },
  }

  afterAll(async () => {
    if (ready === undefined) return
    if (hasLeakTest) await ready.cluster[Symbol.asyncDispose]()
    else await closeReadyLab(wanted, preparation, ready, isSame)
  })
  return lab
}

function existing<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('the lab of the suites is not ready: it is made in beforeAll')
  return thing
}

function addressPairs(from: LabNode, to: LabNode): ReadonlyMap<string, string> {
  const networks = ['kubernetes', 'tunnel', 'physical'] as const
  return new Map(
    networks.flatMap((network) => [
      [from[network].ipv4, to[network].ipv4],
      [from[network].ipv6, to[network].ipv6],
    ]),
  )
}

/** A snapshot with other addresses in the place of these. */
function renamed(snapshot: Snapshot, addresses: ReadonlyMap<string, string>): Snapshot {
  // Beside ports an address of IPv4 stands between colons, one of IPv6 in brackets.
  const alone = [...addresses.keys()].map((address) =>
    address.includes(':')
      ? `(?<![0-9a-f:])${address}(?![0-9a-f:])`
      : `(?<![0-9.])${address.replaceAll('.', '\\.')}(?![0-9.])`,
  )
  const pattern = new RegExp(alone.join('|'), 'g')
  const rename = (thing: string): string => thing.replace(pattern, (word) => addresses.get(word) ?? word)
  return new Map([...snapshot].map(([where, things]) => [where, things.map(rename)]))
}
