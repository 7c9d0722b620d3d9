import { chartNamespace } from '../chart.ts'
import { nodeNamed } from '../cluster/lookup.ts'
import { untilRolledOut, type WorkloadKind } from '../kubernetes/workloads.ts'
import { runAt, type Place } from '../namespaces.ts'
import { processesOf } from './processes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ClockComponent } from './fault.ts'

interface Workload {
  readonly kind: WorkloadKind
  readonly name: string
  readonly container: string
}

const workloads: Readonly<Record<ClockComponent, Workload>> = {
  controller: { kind: 'deployments', name: 'kube-ovn-controller', container: 'kube-ovn-controller' },
  agent: { kind: 'daemonsets', name: 'kube-ovn-cni', container: 'cni-server' },
}

/** On every node, read by the processes whose clock can be set; one file for each component. */
const clockDirectory = '/run/lab-clock'

/** Without the machine's own part: Debian's path differs by architecture. */
const libraryDirectory = '/usr/lib/lab-faketime'

/**
 * Sets the clock of a component on one node off, and of nothing else.
 *
 * The component gets libfaketime between itself and the C library, which takes a roll-out; a controller that is alone is kept on the node. Then the clock jumps while it runs. Only the
 * time of day jumps: durations are measured by another clock.
 */
export async function shiftClock(
  cluster: Cluster,
  component: ClockComponent,
  node: string,
  offsetSeconds: number,
): Promise<void> {
  const { place } = nodeNamed(cluster, node)
  await Promise.all(cluster.nodes.map((each) => writeOffset(each.place, component, 0)))
  await patch(cluster, component, {
    env: Object.entries(environmentOf(component)).map(([name, value]) => ({ name, value })),
    volumes: volumes.map(({ name, path }) => ({ name, hostPath: { path, type: 'Directory' } })),
    mounts: volumes.map(({ name, path }) => ({ name, mountPath: path, readOnly: true })),
    nodeName: (await isAlone(cluster, component)) ? node : null,
  })
  // Where several run, the scheduler chooses on which nodes.
  processesOf(cluster, { component, machine: node })
  await writeOffset(place, component, offsetSeconds)
}

/** Sets the clock right, and takes libfaketime away again. */
export async function restoreClock(cluster: Cluster, component: ClockComponent): Promise<void> {
  await Promise.all(cluster.nodes.map((each) => writeOffset(each.place, component, 0)))
  const gone = { $patch: 'delete' }
  await patch(cluster, component, {
    env: Object.keys(environmentOf(component)).map((name) => ({ name, ...gone })),
    volumes: volumes.map(({ name }) => ({ name, ...gone })),
    mounts: volumes.map(({ path }) => ({ mountPath: path, ...gone })),
    nodeName: null,
  })
}

const volumes = [
  { name: 'lab-clock', path: clockDirectory },
  { name: 'lab-faketime', path: libraryDirectory },
] as const

function environmentOf(component: ClockComponent): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: `${libraryDirectory}/libfaketime.so.1`,
    FAKETIME_TIMESTAMP_FILE: `${clockDirectory}/${component}`,
    // s; how long it takes to notice.
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

async function isAlone(cluster: Cluster, component: ClockComponent): Promise<boolean> {
  const { kind, name } = workloads[component]
  const { spec } = await cluster.api.call<{ readonly spec: { readonly replicas?: number } }>(
    'GET',
    `/apis/apps/v1/namespaces/${chartNamespace}/${kind}/${name}`,
  )
  return spec.replicas === 1
}

/** Replaced as a whole, so that nobody reads half of it. */
async function writeOffset(place: Place, component: ClockComponent, offsetSeconds: number): Promise<void> {
  const sign = offsetSeconds < 0 ? '' : '+'
  await runAt(place, [
    'sh',
    '-ec',
    `mkdir -p ${clockDirectory}
     echo '${sign}${offsetSeconds}' > ${clockDirectory}/.new
     mv ${clockDirectory}/.new ${clockDirectory}/${component}`,
  ])
}

/** A strategic merge patch of the component's container and its pod's volumes, rolled out. */
async function patch(
  cluster: Cluster,
  component: ClockComponent,
  parts: {
    readonly env: object[]
    readonly volumes: object[]
    readonly mounts: object[]
    /** Where it must run; null: wherever the chart lets it. */
    readonly nodeName: string | null
  },
): Promise<void> {
  const { kind, name, container } = workloads[component]
  const spec = {
    ...(kind === 'daemonsets' ? {} : { nodeSelector: { 'kubernetes.io/hostname': parts.nodeName } }),
    volumes: parts.volumes,
    containers: [{ name: container, env: parts.env, volumeMounts: parts.mounts }],
  }
  await cluster.api.call(
    'PATCH',
    `/apis/apps/v1/namespaces/${chartNamespace}/${kind}/${name}`,
    { spec: { template: { spec } } },
    'application/strategic-merge-patch+json',
  )
  await untilRolledOut(cluster.api, kind, chartNamespace, name)
}
