import { readObjects } from '@kube-ovn/testing-bundle/objects'
import { chartNamespace } from './chart.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { ApiClient } from './kubernetes/client.ts'
import { kubectl } from './kubernetes/kubectl.ts'
import type { PodObject } from './kubernetes/workloads.ts'
import { insidePodContainer, runAt, type Place } from './namespaces.ts'

type Files = Readonly<Record<string, string>>

const sockets = {
  northbound: 'unix:/var/run/ovn/ovnnb_db.sock',
  southbound: 'unix:/var/run/ovn/ovnsb_db.sock',
}
const databases = { northbound: 'OVN_Northbound', southbound: 'OVN_Southbound' }

/** What Open vSwitch on a node knows, a file each. */
const switchCommands: Readonly<Record<string, readonly string[]>> = {
  'flows.txt': ['ovs-ofctl', '--no-stats', 'dump-flows', 'br-int'],
  'ports.txt': ['ovs-ofctl', 'show', 'br-int'],
  'ovs.txt': ['ovs-vsctl', 'show'],
  'datapath-flows.txt': ['ovs-appctl', '--timeout=10', 'dpctl/dump-flows'],
}

/** What the kernel of a node knows. */
const kernelCommands: Readonly<Record<string, readonly string[]>> = {
  'links.txt': ['ip', '-d', 'address'],
  'routes.txt': ['ip', 'route', 'show', 'table', 'all'],
  'routes6.txt': ['ip', '-6', 'route', 'show', 'table', 'all'],
  'rules.txt': ['ip', 'rule'],
  'neighbours.txt': ['ip', 'neighbour'],
  'nftables.txt': ['nft', 'list', 'ruleset'],
}

/**
 * What a failed test leaves of a cluster, for `leaveBundleOnFailure`: all objects but Secrets, both databases, the logs of
 * the product, and of each node its flows, links and routes.
 */
export function clusterEvidence(cluster: Cluster): Readonly<Record<string, () => Promise<Files>>> {
  return {
    ...objectsEvidence(cluster.api),
    databases: () => readDatabases(cluster),
    logs: () => readLogs(cluster),
    nodes: () => readNodes(cluster),
  }
}

/** What it leaves of a cluster that is not a lab: all objects but Secrets. */
export function objectsEvidence(api: ApiClient): Readonly<Record<string, () => Promise<Files>>> {
  return { kubernetes: () => readObjects(async (path) => JSON.stringify(await api.call('GET', path))) }
}

async function readDatabases(cluster: Cluster): Promise<Files> {
  const [central] = (await podsOf(cluster)).filter(
    ({ metadata }) => metadata.labels?.['app'] === 'ovn-central',
  )
  const place = insidePodContainer(central?.metadata.uid ?? '', 'ovsdb-server')
  if (place === undefined) throw new TypeError('no ovsdb-server of ovn-central runs')
  const dumped = (['northbound', 'southbound'] as const).map(async (name): Promise<[string, string]> => {
    // Who leads may be what went wrong.
    const options = ['--timeout=20', '--no-leader-only', '--format=list', '--data=string']
    return [
      `${name}.txt`,
      await runAt(place, ['ovsdb-client', ...options, 'dump', sockets[name], databases[name]]),
    ]
  })
  return Object.fromEntries(await Promise.all(dumped))
}

/** Logs of all containers, also of those that ran before and ended. */
async function readLogs(cluster: Cluster): Promise<Files> {
  const logs = (await podsOf(cluster)).flatMap(({ metadata: { name } }) =>
    ['', '--previous'].map(async (which): Promise<[string, string]> => {
      const options = ['--all-containers', '--prefix', ...(which === '' ? [] : [which])]
      const text = await kubectl(cluster, 'logs', '--namespace', chartNamespace, name, ...options).catch(
        String,
      )
      return [`logs/${name}${which === '' ? '' : '-previous'}.log`, text]
    }),
  )
  const files = await Promise.all(logs)
  return Object.fromEntries(
    files.filter(([path, text]) => !(path.endsWith('-previous.log') && text.includes('not found'))),
  )
}

async function readNodes(cluster: Cluster): Promise<Files> {
  const pods = await podsOf(cluster)
  const files = cluster.nodes.map(async ({ name, place }): Promise<Files> => {
    const pod = pods.find(
      ({ metadata, spec }) => spec.nodeName === name && metadata.labels?.['app'] === 'ovs',
    )
    const vswitch = insidePodContainer(pod?.metadata.uid ?? '', 'ovs-vswitchd')
    return {
      ...(await readCommands(name, place, kernelCommands)),
      ...(vswitch === undefined ? {} : await readCommands(name, vswitch, switchCommands)),
    }
  })
  return Object.assign({}, ...(await Promise.all(files))) as Files
}

async function readCommands(
  node: string,
  place: Place,
  commands: Readonly<Record<string, readonly string[]>>,
): Promise<Files> {
  const outputs = Object.entries(commands).map(async ([file, command]): Promise<[string, string]> => [
    `nodes/${node}/${file}`,
    await runAt(place, command).catch(String),
  ])
  return Object.fromEntries(await Promise.all(outputs))
}

function podsOf(cluster: Cluster): Promise<readonly PodObject[]> {
  return cluster.api.list<PodObject>(`/api/v1/namespaces/${chartNamespace}/pods`)
}
