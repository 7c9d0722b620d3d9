import { leaveBundleIfThrows, leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import {
  claimLabName,
  clusterEvidence,
  createCluster,
  findLeaks,
  installChart,
  installDns,
  removeLeftovers,
  renderDifferences,
  takeSnapshot,
} from '@kube-ovn/lab'
import type { ChartValues, Cluster, LabNode, Snapshot, Topology, WantedTopology } from '@kube-ovn/lab'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** The lab of the suites in one file. */
export interface SuiteLab {
  readonly cluster: Cluster
  /** From here on, what was there before counts as it would look now that a node has other addresses. */
  hasMoved(from: LabNode, to: LabNode): void
  /** What is there that was not there when the lab was ready, and the other way round, to be read; nothing if nothing is. */
  findLeaks(timeoutMs?: number): Promise<string>
}

/** What is there before the suites do anything. */
interface Preparation {
  /** Of the chart, beside those of a lab; some need to know its addresses. */
  readonly values?: ChartValues | ((cluster: Cluster) => ChartValues)
  readonly beforeChart?: (cluster: Cluster) => Promise<void>
  readonly afterChart?: (cluster: Cluster) => Promise<void>
  /** A test looks for leaks, because another one takes the product away in the end. */
  readonly hasLeakTest?: boolean
}

/**
 * Gives the suites of a file a lab with the chart and a DNS, which goes after the last of them.
 *
 * A test that fails leaves a bundle. When all are done and have cleaned up, in `afterAll` at the latest, what is there must be what was there
 * before the first; to be called before any `afterAll` of the file, since the last one that is declared is the first one that runs.
 */
export function useSuiteLab(
  wanted: WantedTopology & { readonly id: string },
  { values, beforeChart, afterChart, hasLeakTest = false }: Preparation = {},
): SuiteLab {
  let cluster: Cluster | undefined
  let before: Snapshot | undefined
  const evidence = () => clusterEvidence(existing(cluster))

  beforeAll(async () => {
    await removeLeftovers()
    await claimLabName(wanted.id)
    const made = await createCluster({ ...wanted, ...chosenProxyMode() })
    cluster = made
    await leaveBundleIfThrows(`${wanted.id} set-up`, evidence(), async () => {
      await beforeChart?.(made)
      await installChart(made, typeof values === 'function' ? values(made) : values)
      await installDns(made)
      await afterChart?.(made)
      before = await takeSnapshot(made)
    })
  })

  beforeEach(() => leaveBundleOnFailure(evidence()))

  const lab: SuiteLab = {
    get cluster() {
      return existing(cluster)
    },
    hasMoved(from, to) {
      before = renamed(existing(before), addressPairs(from, to))
    },
    async findLeaks(timeoutMs) {
      return renderDifferences(await findLeaks(existing(cluster), existing(before), timeoutMs))
    },
  }

  afterAll(async () => {
    const [made, first] = [cluster, before]
    if (made === undefined) return
    await using _ = made
    if (first !== undefined && !hasLeakTest)
      await leaveBundleIfThrows(`${wanted.id} leaks`, evidence(), () => expectSame(made, first))
  })
  return lab
}

/** KUBE_OVN_PROXY_MODE has all suites run with kube-proxy in another mode, or without one. */
function chosenProxyMode(): Pick<Partial<Topology>, 'proxyMode'> {
  const modes = ['nftables', 'iptables', 'none'] as const
  const proxyMode = modes.find((mode) => mode === process.env['KUBE_OVN_PROXY_MODE'])
  return proxyMode === undefined ? {} : { proxyMode }
}

/** @throws if a cluster differs from what it was, and goes on to */
export async function expectSame(cluster: Cluster, before: Snapshot): Promise<void> {
  const differences = renderDifferences(await findLeaks(cluster, before))
  if (differences !== '') throw new Error(`the suites leave (+) or lack (-) something:\n${differences}`)
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
