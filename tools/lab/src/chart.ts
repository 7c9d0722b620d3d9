import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { serverOf } from './cluster/configuration.ts'
import { untilNodesReady } from './cluster/readiness.ts'
import type { Cluster } from './cluster/cluster.ts'
import { joinRange, serviceRange, subnetsOf, type Stack } from './cluster/topology.ts'
import { programs, repository } from './paths.ts'
import { runProgram } from './program.ts'
import { untilRolledOut, type WorkloadKind } from './kubernetes/workloads.ts'

/** Values of the chart, as a user would put them into a file. */
export type ChartValues = Readonly<Record<string, unknown>>

export const chartNamespace = 'kube-system'
const release = 'kube-ovn'
const chart = join(repository, 'helm/kube-ovn')

/** What the chart always starts, in the order in which it becomes ready. */
const chartWorkloads: readonly { readonly kind: WorkloadKind; readonly name: string }[] = [
  { kind: 'deployments', name: 'ovn-central' },
  { kind: 'daemonsets', name: 'ovs-ovn' },
  { kind: 'deployments', name: 'kube-ovn-controller' },
  { kind: 'daemonsets', name: 'kube-ovn-cni' },
  { kind: 'deployments', name: 'kube-ovn-monitor' },
]

/** Set by Helm on what it has made. */
const releaseKey = 'meta.helm.sh/release-name'

const stackNames: Record<Stack, string> = { dual: 'Dual', ipv4: 'IPv4', ipv6: 'IPv6' }

/**
 * The values with which the chart is installed in a lab: ordinary ones, for a cluster whose kernel has no openvswitch module and whose
 * nodes have a NIC of their own for tunnels.
 */
export function labValues(cluster: Cluster): ChartValues {
  const hasProxy = cluster.topology.proxyMode !== 'none'
  const server = new URL(serverOf(cluster.topology, cluster.blocks))
  const pair = (range: { ipv4: string; ipv6: string }) => ({ v4: range.ipv4, v6: range.ipv6 })
  return {
    networking: {
      stack: stackNames[cluster.topology.stack],
      // Empty gateways: the first address of each.
      pods: { cidr: pair(cluster.topology.podRange), gateways: { v4: '', v6: '' } },
      join: { cidr: pair(joinRange) },
      services: { cidr: pair(serviceRange) },
    },
    ovsOvn: {
      datapath: 'userspace',
      tunnelNic: subnetsOf(cluster.blocks, 'tunnel')[cluster.topology.stack === 'ipv6' ? 'ipv6' : 'ipv4'],
      disableModulesManagement: true,
    },
    // The bridge that the tunnel NIC becomes a port of.
    agent: {
      interface: 'br-phy',
      ...(hasProxy
        ? {}
        : { apiServer: { host: server.hostname.replace(/^\[|\]$/g, ''), port: Number(server.port) } }),
    },
    ...(hasProxy ? {} : { features: { replaceKubeProxy: true } }),
    // Only its own check has it: others count packets, addresses and requests.
    pinger: { enabled: false },
  }
}

/** Installs the chart with Helm and waits until everything in it has rolled out and every node is Ready. */
export async function installChart(cluster: Cluster, values: ChartValues = {}): Promise<void> {
  await runHelm(cluster, 'install', values)
  await untilChartReady(cluster)
}

/** Upgrades the chart with changed values and waits until it has rolled out. */
export async function upgradeChart(cluster: Cluster, values: ChartValues): Promise<void> {
  await runHelm(cluster, 'upgrade', values)
  await untilChartReady(cluster)
}

/** Uninstalls the chart; its hooks have cleaned the nodes when this returns. */
export async function uninstallChart(cluster: Cluster): Promise<void> {
  await helm(cluster, 'uninstall', release, '--namespace', chartNamespace, '--wait', '--timeout', '3m')
}

async function runHelm(cluster: Cluster, verb: 'install' | 'upgrade', values: ChartValues): Promise<void> {
  const files = [labValues(cluster), values].map((layer, index) => {
    const path = join(cluster.directory, `values-${index}.yaml`)
    // Helm reads `yes` as true.
    writeFileSync(path, stringify(layer, { version: '1.1' }))
    return ['--values', path]
  })
  files.unshift(['--values', join(repository, 'dist/image-values.yaml')])
  await helm(cluster, verb, release, chart, '--namespace', chartNamespace, ...files.flat(), '--timeout', '5m')
}

function helm(cluster: Cluster, ...args: readonly string[]): Promise<string> {
  return runProgram(programs.helm, args, { env: { KUBECONFIG: cluster.kubeconfig }, timeoutMs: 600_000 })
}

async function untilChartReady(cluster: Cluster): Promise<void> {
  const { api } = cluster
  for (const { kind, name } of chartWorkloads) await untilRolledOut(api, kind, chartNamespace, name)
  await untilNodesReady(cluster)
  // What some values add, e.g. pods that need the network.
  for (const kind of ['deployments', 'daemonsets'] as const)
    for (const { metadata } of await api.list(`/apis/apps/v1/namespaces/${chartNamespace}/${kind}`))
      if (metadata.annotations?.[releaseKey] === release)
        await untilRolledOut(api, kind, chartNamespace, metadata.name)
}
