import { KubeOvnError } from '@kube-ovn/errors'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import type { Command } from 'commander'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { redactText } from '../bundle/redact.ts'
import type { Cluster } from '../cluster.ts'
import { onNode, type NodeComponent } from '../components.ts'
import { openCluster, printOutcome, type Context } from '../context.ts'
import { describeError } from '../describe-error.ts'
import { eachOf } from '../diagnose/finding.ts'
import { ComponentMissingError, UsageError } from '../errors.ts'
import { readAll } from '../facts.ts'

/** Whose logs are wanted. */
export type LogComponent = 'kube-ovn' | 'ovn' | 'ovs' | 'linux' | 'all'

/** A file to be written, below the directory of its node. */
interface Part {
  readonly node: string
  readonly path: string
  readonly read: () => Promise<string>
}

/** Saves logs in a directory. */
export async function saveLogs(context: Context, command: Command, component: LogComponent): Promise<void> {
  const lines = Number(command.opts<{ readonly lines: string }>().lines)
  if (!(lines > 0)) throw new UsageError('lines', '', 'write a number')
  await using cluster = await openCluster(context, command)
  const directory = resolve(context.directory, 'kubectl-ko-log')
  const parts = await partsOf(cluster, component, lines)
  const missing = (await eachOf(parts, (part) => save(part, directory))).filter((one) => one !== undefined)
  for (const line of missing.toSorted()) context.stderr.write(`${line}\n`)
  // Some tools are not on every node; that nothing could be had is a failure.
  if (parts.length === missing.length) {
    const cure = 'see whether Kube-OVN is installed, and --system-namespace is its namespace'
    throw new ComponentMissingError('component', component, cure)
  }
  const data = { directory, files: parts.length - missing.length, missing: missing.toSorted() }
  printOutcome(context, command, data, `Collected files have been saved in the directory ${directory}\n`)
}

/** Answers why a part could not be had. */
async function save({ node, path, read }: Part, directory: string): Promise<string | undefined> {
  try {
    const file = join(directory, node, path)
    const text = redactText(await read())
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, text, { mode: 0o600 })
    return undefined
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return `${node}/${path}: ${describeError(error)}`
  }
}

async function partsOf(cluster: Cluster, component: LogComponent, lines: number): Promise<readonly Part[]> {
  const names = (await readAll(cluster, nodes)).map(({ metadata }) => metadata.name)
  const wanted = (one: LogComponent): boolean => component === 'all' || component === one
  return [
    ...(wanted('kube-ovn') ? await podLogs(cluster, 'kube-ovn', /^kube-ovn-/, lines) : []),
    ...(wanted('ovn') ? await podLogs(cluster, 'ovn', /^ovn-central-/, lines) : []),
    ...(wanted('ovs') ? await podLogs(cluster, 'openvswitch', /^ovs-ovn-/, lines) : []),
    ...names.flatMap((node) => [
      ...(wanted('ovn') ? directoryLogs(cluster, node, 'ovn', lines) : []),
      ...(wanted('ovs') ? directoryLogs(cluster, node, 'openvswitch', lines) : []),
      ...(wanted('linux') ? linuxState(cluster, node) : []),
    ]),
  ]
}

/** What the containers of a component have printed. */
async function podLogs(
  cluster: Cluster,
  directory: string,
  name: RegExp,
  lines: number,
): Promise<readonly Part[]> {
  const { client, namespace } = cluster
  const own = (await readAll(cluster, pods, { namespace })).filter(({ metadata }) => name.test(metadata.name))
  return own.flatMap((pod: Pod) =>
    pod.spec.containers.map(({ name: container }): Part => {
      const query = new URLSearchParams({ container, tailLines: String(lines) })
      const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}/log?${query.toString()}`
      return {
        node: pod.spec.nodeName ?? 'unscheduled',
        path: join(directory, `${pod.metadata.name}.${container}.log`),
        read: () => client.read(path),
      }
    }),
  )
}

/** The files of daemons that log into files, those that were rotated left out. */
function directoryLogs(cluster: Cluster, node: string, directory: string, lines: number): readonly Part[] {
  const files =
    directory === 'ovn'
      ? ['ovn-controller.log', 'ovn-northd.log', 'ovsdb-server-nb.log', 'ovsdb-server-sb.log']
      : ['ovs-vswitchd.log', 'ovsdb-server.log']
  return files.map((file) => ({
    node,
    path: join(directory, file),
    read: async () => {
      const script = 'if [ -e "$1" ]; then exec tail -n "$2" "$1"; else echo "no such file on this node"; fi'
      const words = ['bash', '-c', script, 'bash', `/var/log/${directory}/${file}`, String(lines)]
      return cluster.tell(await onNode(cluster, node, 'ovs'), words)
    },
  }))
}

const linuxCommands: readonly (readonly [file: string, component: NodeComponent, ...command: string[]])[] = [
  ['dmesg', 'ovs', 'dmesg', '--ctime'],
  ['iptables-nft', 'kube-ovn-cni', 'nft', 'list', 'ruleset'],
  ['route', 'ovs', 'ip', 'route', 'show', 'table', 'all'],
  ['route-v6', 'ovs', 'ip', '-6', 'route', 'show', 'table', 'all'],
  ['rule', 'ovs', 'ip', 'rule'],
  ['link', 'ovs', 'ip', '-details', '-statistics', 'link'],
  ['neigh', 'ovs', 'ip', 'neighbour'],
  ['addr', 'ovs', 'ip', '-details', 'address'],
  ['memory', 'ovs', 'cat', '/proc/meminfo'],
  ['load', 'ovs', 'cat', '/proc/loadavg'],
  ['top', 'ovs', 'top', '-b', '-n', '1'],
  ['netstat', 'ovs', 'cat', '/proc/net/netstat', '/proc/net/snmp'],
  ['tcp', 'ovs', 'cat', '/proc/net/tcp', '/proc/net/tcp6', '/proc/net/udp', '/proc/net/udp6'],
  ['conntrack', 'ovs', 'ovs-appctl', 'dpctl/ct-stats-show'],
  ['xfrm', 'ovs', 'ip', 'xfrm', 'policy'],
  [
    'sysctl',
    'kube-ovn-cni',
    'bash',
    '-c',
    'cd /proc/sys && grep -rs . net/ipv4 net/ipv6/conf net/core net/netfilter || true',
  ],
]

function linuxState(cluster: Cluster, node: string): readonly Part[] {
  return linuxCommands.map(([file, component, ...command]) => ({
    node,
    path: join('linux', `${file}.log`),
    read: async () => cluster.tell(await onNode(cluster, node, component), command),
  }))
}
