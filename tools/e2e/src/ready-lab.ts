import { leaveBundleIfThrows } from '@kube-ovn/testing-bundle'
import {
  claimLabName,
  clusterEvidence,
  completeTopology,
  createCluster,
  findLeaks,
  installChart,
  installDns,
  proxyModes,
  removeLeftovers,
  renderDifferences,
  stacks,
  takeSnapshot,
  type ChartValues,
  type Cluster,
  type Snapshot,
  type WantedTopology,
} from '@kube-ovn/lab'
import { labOwner, leaveFree, removeFreeLabs, takeFreeLab, type ReadyLab } from './free-labs.ts'

/** A lab that has an id of its own, which it keeps when others take it. */
export type NamedTopology = WantedTopology & { readonly id: string }

/**
 * A lab as whoever runs the suites has chosen it: KUBE_OVN_PROXY_MODE has them run with kube-proxy in another mode, or without one, and
 * KUBE_OVN_STACK with one family alone.
 */
export function chosenFor(topology: NamedTopology): NamedTopology {
  const proxyMode = chosenOf('KUBE_OVN_PROXY_MODE', proxyModes)
  const stack = chosenOf('KUBE_OVN_STACK', stacks)
  return {
    ...topology,
    ...(proxyMode === undefined ? {} : { proxyMode }),
    ...(stack === undefined ? {} : { stack }),
  }
}

/** @throws if the variable says something else than one of these */
function chosenOf<T extends string>(variable: string, all: readonly T[]): T | undefined {
  const value = process.env[variable]
  if (value === undefined || value === '') return undefined
  const chosen = all.find((one) => one === value)
  if (chosen === undefined) throw new Error(`${variable}=${value}: is none of ${all.join(', ')}`)
  return chosen
}

/** What is there before the suites do anything. */
export interface Preparation {
  /** Of the chart, beside those of a lab; some need to know its addresses. */
  readonly values?: ChartValues | ((cluster: Cluster) => ChartValues)
  readonly beforeChart?: (cluster: Cluster) => Promise<void>
  readonly afterChart?: (cluster: Cluster) => Promise<void>
}

/**
 * A lab with the chart and a DNS: one that the suites of another file have left as they found it, or else a new one. What is done by a
 * function is not known to be the same, so a lab that is prepared by one is not shared.
 */
export async function openReadyLab(wanted: NamedTopology, preparation: Preparation = {}): Promise<ReadyLab> {
  await removeLeftovers()
  const shared = sharedAs(wanted, preparation)
  const taken = shared === undefined ? undefined : await takeFreeLab(shared)
  if (taken !== undefined) return taken
  await removeFreeLabs()
  await claimLabName(wanted.id)
  const cluster = await createCluster({ ...wanted, owner: labOwner().pid })
  const { values, beforeChart, afterChart } = preparation
  try {
    const before = await leaveBundleIfThrows(`${wanted.id} set-up`, clusterEvidence(cluster), async () => {
      await beforeChart?.(cluster)
      await installChart(cluster, typeof values === 'function' ? values(cluster) : values)
      await installDns(cluster)
      await afterChart?.(cluster)
      return takeSnapshot(cluster)
    })
    return { cluster, before }
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * Ends what {@link openReadyLab} began: the lab is free for others if it is as it was, and goes if it is not.
 *
 * @param isSame the lab was not changed for good
 * @throws if there is something that was not there before, or the other way round, and goes on to be
 */
export async function closeReadyLab(
  wanted: NamedTopology,
  preparation: Preparation,
  lab: ReadyLab,
  isSame: boolean,
): Promise<void> {
  const shared = sharedAs(wanted, preparation)
  await using stack = new AsyncDisposableStack()
  stack.use(lab.cluster)
  await leaveBundleIfThrows(`${wanted.id} leaks`, clusterEvidence(lab.cluster), () =>
    expectSame(lab.cluster, lab.before),
  )
  if (shared === undefined || !isSame) return
  await leaveFree(shared, lab)
  stack.move()
}

/** @throws if a cluster differs from what it was, and goes on to */
async function expectSame(cluster: Cluster, before: Snapshot): Promise<void> {
  const differences = renderDifferences(await findLeaks(cluster, before))
  if (differences !== '') throw new Error(`the suites leave (+) or lack (-) something:\n${differences}`)
}

/** What a lab has to be asked for by so that it is the same; nothing if it is shared with nobody. */
function sharedAs({ id: _id, ...topology }: NamedTopology, preparation: Preparation): object | undefined {
  const { values = {}, beforeChart, afterChart } = preparation
  const isTold = typeof values !== 'function' && beforeChart === undefined && afterChart === undefined
  return isTold ? { topology: completeTopology(topology), values } : undefined
}
