import { setTimeout as delay } from 'node:timers/promises'
import { upgradeChart, type ChartValues } from '../chart.ts'
import { routerAsn } from '../cluster/router-configuration.ts'
import { ofStack, worldAddress, worldName } from '../cluster/topology.ts'
import { firstOf } from '../checks/check.ts'
import { beTheWorld } from '../checks/pinger-breakages.ts'
import { injectFault } from '../faults/inject.ts'
import { idlePod } from '../kubernetes/idle-pod.ts'
import { applyAll, deleteAll, withinStack } from '../kubernetes/manifests.ts'
import { isPodReady, untilPod } from '../kubernetes/workloads.ts'
import { controllerLeader } from './controller-leader.ts'
import { databaseMembers } from './database-leader.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Fault } from '../faults/fault.ts'

const name = 'watched'
const speakerAs = 65_000
/** Of which a part goes by until the first fault, between faults, and after the last one. */
const faultShare = 0.1

/** Values by which every program of the chart runs that operators are shown something of; speakers where there are routers. */
function watchedValues({ topology, routers }: Cluster): ChartValues {
  const { ipv4: v4, ipv6: v6 } = worldAddress
  const domain = `${worldName}.`
  const pinger = {
    enabled: true,
    enableVerboseConnCheck: true,
    targets: { externalAddresses: { v4, v6 }, externalDomain: { v4: domain, v6: domain } },
  }
  if (routers.length === 0) return { pinger }
  const neighbors = routers.flatMap(({ addresses }, index) =>
    ofStack(topology.stack, addresses).map((address) => ({ address, as: routerAsn(index) })),
  )
  // A picture tells of minutes: a session with who is silent ends within them.
  const args = [`--cluster-as=${speakerAs}`, '--announce-cluster-ip', '--holdtime=9s']
  return { pinger, bgpSpeaker: { enabled: true, args, neighbors } }
}

/** Has all these programs run, as long as the result lives, and a Subnet whose pods routers are told of. */
export async function beWatched(cluster: Cluster): Promise<AsyncDisposable> {
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name, annotations: { 'ovn.kubernetes.io/bgp': 'local' } },
      spec: { cidrBlock: '10.50.0.0/24,fd00:10:50::/120', namespaces: [name] },
    } as ApiObject,
  ].map((object) => withinStack(object, cluster.topology.stack))
  await using stack = new AsyncDisposableStack()
  stack.use(await beTheWorld(cluster))
  stack.defer(() => upgradeChart(cluster, {}))
  await upgradeChart(cluster, watchedValues(cluster))
  stack.defer(() => deleteAll(cluster.api, objects))
  await applyAll(cluster.api, objects)
  return stack.move()
}

/** Pods come and go on every node, and one thing after the other breaks and is repaired, until the time is over. */
export async function liveFor(cluster: Cluster, seconds: number): Promise<void> {
  const end = new AbortController()
  const pods = cluster.nodes.map((node) => comeAndGo(cluster, node.name, end.signal))
  try {
    await Promise.race([Promise.all(pods), breakInTurn(cluster, seconds * 1000)])
  } finally {
    end.abort()
  }
  await Promise.all(pods)
}

/** A pod after the other: each goes when the next one is Ready. */
async function comeAndGo({ api }: Cluster, node: string, signal: AbortSignal): Promise<void> {
  for (let index = 0; !signal.aborted; index = 1 - index) {
    const pod = idlePod({ name: `${node}-${index}`, namespace: name }, node)
    await api.apply(pod)
    await untilPod(api, name, pod.metadata.name, 'is Ready', (one) => one !== undefined && isPodReady(one))
    const before = { ...pod, metadata: { ...pod.metadata, name: `${node}-${1 - index}` } }
    await api.delete(before, 0)
    await untilPod(api, name, before.metadata.name, 'is gone', (one) => one === undefined)
  }
}

async function breakInTurn(cluster: Cluster, ms: number): Promise<void> {
  const faults = await faultsOf(cluster)
  const quietMs = (ms * (1 - faultShare * faults.length)) / (faults.length + 1)
  for (const fault of faults) {
    await delay(quietMs)
    await using _fault = await injectFault(cluster, fault)
    await delay(ms * faultShare)
  }
  await delay(quietMs)
}

/** What shows in one dashboard or another while it lasts. */
async function faultsOf(cluster: Cluster): Promise<readonly Fault[]> {
  const leader = (await controllerLeader(cluster)).spec.nodeName ?? ''
  const members = await databaseMembers(cluster)
  const { node } = members.find((member) => member.node !== leader) ?? firstOf(members, 'database server')
  const router = cluster.routers.at(-1)
  return [
    { kind: 'partition', node, from: { network: 'tunnel' } },
    ...(router === undefined ? [] : [{ kind: 'pause' as const, target: { machine: router.name } }]),
    { kind: 'pause', target: { machine: node, component: 'ovn-controller' } },
    { kind: 'pause', target: { machine: node, component: 'southbound' } },
  ]
}
