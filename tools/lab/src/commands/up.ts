import { dirname } from 'node:path'
import { installChart } from '../chart.ts'
import { finalChecks, productChecks, runChecks, type CheckGroup } from '../checks/all.ts'
import { podToPod } from '../checks/pod-to-pod.ts'
import { seenCluster } from '../checks/seen-cluster.ts'
import { createCluster, type Cluster } from '../cluster/cluster.ts'
import { claimLabName, removeLab, removeLeftovers } from '../cluster/leftovers.ts'
import { reapUntilComplete } from '../cluster/reaper.ts'
import { untilNodesReady } from '../cluster/readiness.ts'
import { closeForCreation } from '../docker/engine.ts'
import { installDns } from '../dns.ts'
import { bringUpFakes } from '../fake/bring-up.ts'
import { fakesCheck } from '../fake/check.ts'
import { describePodsNotReady } from '../kubernetes/diagnosis.ts'
import { applyAll, readExample } from '../kubernetes/manifests.ts'
import { programs } from '../paths.ts'
import { printGroup, printSummary, step } from '../report.ts'
import type { Check } from '../checks/check.ts'
import type { Topology } from '../cluster/topology.ts'
import type { FakePlan } from '../fake/plan.ts'

/** What is to become of labs, beside what their topologies say. */
interface UpPlan {
  readonly isChecked: boolean
  /** In the first of them. */
  readonly fakes: FakePlan
}

/**
 * Brings labs up, the second and further of which see the first, checks them, and tears them down unless they are to be kept.
 *
 * What is to be kept stays also when something fails that is not the cluster itself, since that is what somebody wants to look at.
 *
 * @returns the exit code: 1 if a check did not hold
 */
export async function bringUp(
  topologies: readonly Topology[],
  { isChecked, fakes }: UpPlan,
): Promise<number> {
  const ids = topologies.map(({ id }) => id)
  await removeLeftovers()
  for (const id of ids) await claimLabName(id)
  const stop = removeOnSignal(ids)
  await using lifetime = new AsyncDisposableStack()
  const clusters: Cluster[] = []
  const kept = topologies.filter(({ isKept }) => isKept).map(({ id }) => reapUntilComplete(id))
  try {
    for (const topology of topologies) {
      const name = `cluster of ${topology.nodes.length} nodes${ids.length > 1 ? `: ${topology.id}` : ''}`
      const cluster = lifetime.use(await step(name, () => createCluster(topology)))
      clusters.push(cluster)
      await prepare(cluster, clusters.length === 1 ? fakes : { nodes: 0, pods: 0 })
    }
    const isOk = !isChecked || (await check(clusters, fakes))
    if (kept.length === 0) await step('tear down', () => removeLabs(ids))
    stop()
    return isOk ? 0 : 1
  } finally {
    if (kept.length > 0 && !isEnding()) {
      for (const complete of kept) complete()
      for (const cluster of clusters) printAccess(cluster)
    }
  }
}

/** Everything between a bare cluster and one that checks can be run on. */
async function prepare(cluster: Cluster, fakes: FakePlan): Promise<void> {
  const { podNetwork, stack } = cluster.topology
  try {
    if (podNetwork === 'bridge') await untilNodesReady(cluster)
    else await step('helm install', () => installChart(cluster))
    await step('CoreDNS', () => installDns(cluster))
    if (podNetwork === 'kube-ovn')
      await step('examples', () => applyAll(cluster.api, readExample('01-two-subnets', stack)))
    if (fakes.nodes > 0) await bringUpFakes(cluster, fakes)
  } catch (error) {
    process.stderr.write(await describePodsNotReady(cluster))
    throw error
  }
}

/** The first cluster is checked for everything; others for what makes them different. */
async function check(clusters: readonly Cluster[], fakes: FakePlan): Promise<boolean> {
  const groups: CheckGroup[] = []
  for (const [index, cluster] of [...clusters.entries()].reverse()) {
    if (cluster.topology.podNetwork === 'bridge') continue
    const checks = index === 0 ? checksOfFirst(cluster, fakes) : [seenCluster, podToPod]
    groups.push(...(await runChecks(cluster, checks, printGroup)))
  }
  return clusters.every(({ topology }) => topology.podNetwork === 'bridge') || printSummary(groups)
}

/** Beside many fakes, what the lab usually checks would measure this machine. */
function checksOfFirst({ topology }: Cluster, fakes: FakePlan): readonly Check[] {
  if (fakes.nodes > 0) return [fakesCheck(fakes), podToPod]
  return topology.isKept ? productChecks : [...productChecks, ...finalChecks]
}

/** Is there once this process was told to go; what fails from then on fails because of it. */
let ending: Promise<void> | undefined

/** A function, because the compiler takes a variable that others set for what it was. */
function isEnding(): boolean {
  return ending !== undefined
}

/** Waits until the labs are removed, if this process was told to go. */
export async function untilRemovedOnSignal(): Promise<void> {
  await ending
}

/** Labs that are not to be kept go when their process is told to go, and so do those that are not complete yet. */
function removeOnSignal(ids: readonly string[]): () => void {
  const onSignal = (): void => {
    process.stdout.write('\nremoving the lab\n')
    ending = closeForCreation()
      .then(() => removeLabs(ids))
      .finally(() => process.exit(130))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

async function removeLabs(ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => removeLab(id)))
}

function printAccess({ kubeconfig, topology }: Cluster): void {
  process.stdout.write(`
The lab ${topology.id} is left running.

  export KUBECONFIG=${kubeconfig} PATH=${programs.kubernetes}:${dirname(programs.helm)}:$PATH
  kubectl get pods -A -o wide
  kubectl -n kube-system exec deploy/ovn-central -- ovn-nbctl show
  helm list -A
  npm run lab -- exec --id ${topology.id} node-1 ip route
  npm run lab -- down --id ${topology.id}
`)
}
