import { KubeOvnError } from '@kube-ovn/errors'
import { daemonSets, deployments, events, leases, nodes, pods, services, type Resource } from '@kube-ovn/kube'
import { definitions } from '@kube-ovn/kube-api'
import type { Command } from 'commander'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { redactObject, redactText } from '../bundle/redact.ts'
import type { Cluster, PodContainer } from '../cluster.ts'
import { centralMembers, onNode } from '../components.ts'
import { databases } from '../databases.ts'
import { openCluster, printOutcome, type Context } from '../context.ts'
import { describeError } from '../describe-error.ts'
import { readAll, readFacts } from '../facts.ts'
import { statusView } from '../view/status-view.ts'

/** One file of a bundle. */
interface Part {
  readonly path: string
  readonly read: () => Promise<string>
}

/** Parts that are read at a time. */
const atOnce = 8

/** Collects what a person needs who is to help. */
export async function collectBundle(
  context: Context,
  command: Command,
  name: string | undefined,
): Promise<void> {
  await using cluster = await openCluster(context, command)
  const lines = Number(command.opts<{ readonly lines: string }>().lines) || 0
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const directory = resolve(context.directory, name ?? `kubectl-ko-bundle-${time}`)
  const parts = [...(await objectParts(cluster)), ...(await podParts(cluster, lines))]
  const missing: string[] = []
  const queue = parts.values()
  const workers = Array.from({ length: atOnce }, async () => {
    for (const { path, read } of queue) {
      try {
        await save(join(directory, path), await read())
      } catch (error) {
        if (!(error instanceof KubeOvnError)) throw error
        missing.push(`${path}: ${describeError(error)}`)
      }
    }
  })
  await Promise.all(workers)
  if (missing.length > 0) {
    await save(join(directory, 'missing.txt'), `${missing.toSorted().join('\n')}\n`)
    context.exitCode = 1
  }
  printOutcome(
    context,
    command,
    { directory, files: parts.length - missing.length, missing: missing.toSorted() },
    `${parts.length - missing.length} files in ${directory}${missing.length === 0 ? '' : `; ${missing.length} could not be had, see missing.txt there`}\n`,
  )
}

async function save(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, redactText(text), { mode: 0o600 })
}

async function objectParts(cluster: Cluster): Promise<readonly Part[]> {
  const { namespace } = cluster
  const everywhere: readonly Resource[] = [
    ...definitions.map(({ resource }) => resource),
    ...[nodes, services, pods, events],
  ]
  const own: readonly Resource[] = [deployments, daemonSets, leases]
  const status = async (): Promise<string> => stringify(statusView(await readFacts(cluster), Date.now()))
  const part = (resource: Resource, selection: { readonly namespace?: string }): Part => ({
    path: join('objects', `${resource.plural}.yaml`),
    read: async () => stringify(redactObject(await readAll(cluster, resource, selection))),
  })
  return [
    { path: 'status.yaml', read: status },
    { path: 'version.json', read: () => cluster.client.read('/version') },
    ...everywhere.map((resource) => part(resource, {})),
    ...own.map((resource) => part(resource, { namespace })),
  ]
}

/** Logs of all containers of the product, and what its tools say. */
async function podParts(cluster: Cluster, lines: number): Promise<readonly Part[]> {
  const { client, namespace } = cluster
  const { pods: all, nodes: nodeList } = await readFacts(cluster)
  const own = all.filter(
    ({ metadata }) =>
      metadata.namespace === namespace && /^(ovn-central|ovs-ovn|kube-ovn-)/.test(metadata.name),
  )
  const logs = own.flatMap(({ metadata: { name }, spec }) =>
    spec.containers.map(({ name: container }): Part => {
      const query = new URLSearchParams({ container, tailLines: String(lines) })
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query.toString()}`
      return { path: join('logs', `${name}.${container}.log`), read: () => client.read(path) }
    }),
  )
  const central = await databaseParts(cluster)
  const onNodes = nodeList.flatMap(({ metadata: { name } }) =>
    nodeCommands.map(([file, command]): Part => ({
      path: join('nodes', name, file),
      read: async () => cluster.tell(await onNode(cluster, name, 'ovs'), command),
    })),
  )
  return [...logs, ...central, ...onNodes]
}

/** Both databases of each member; that there is none to be asked is told as what is missing. */
async function databaseParts(cluster: Cluster): Promise<readonly Part[]> {
  const members = await centralMembers(cluster).catch((error: unknown) => {
    if (error instanceof KubeOvnError) return error
    throw error
  })
  if (members instanceof KubeOvnError) return [{ path: 'databases', read: () => Promise.reject(members) }]
  return members.flatMap((member) =>
    Object.values(databases).flatMap(({ kind, control, schema, socket }): readonly Part[] => [
      toolPart(cluster, member, `${kind}-dump.json`, [
        'ovsdb-client',
        '--timeout=60',
        'backup',
        socket,
        schema,
      ]),
      toolPart(cluster, member, `${kind}-storage.txt`, [
        ...['ovn-appctl', '-t', control, 'ovsdb-server/get-db-storage-status', schema],
      ]),
    ]),
  )
}

function toolPart(cluster: Cluster, where: PodContainer, file: string, command: readonly string[]): Part {
  return { path: join('databases', where.pod, file), read: () => cluster.tell(where, command) }
}

const nodeCommands: readonly (readonly [file: string, command: readonly string[]])[] = [
  ['vsctl-show.txt', ['ovs-vsctl', 'show']],
  ['interfaces.json', ['ovs-vsctl', '--format=json', 'list', 'Interface']],
  ['flows.txt', ['ovs-ofctl', 'dump-flows', 'br-int']],
  ['datapath-flows.txt', ['ovs-appctl', 'dpctl/dump-flows']],
  ['coverage.txt', ['ovs-appctl', 'coverage/show']],
  ['addresses.txt', ['ip', '-details', 'address']],
  ['routes.txt', ['ip', 'route', 'show', 'table', 'all']],
  ['routes-v6.txt', ['ip', '-6', 'route', 'show', 'table', 'all']],
  ['rules.txt', ['ip', 'rule']],
  ['neighbours.txt', ['ip', 'neighbour']],
]
