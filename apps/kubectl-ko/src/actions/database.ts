import { parseClusterStatus } from '@kube-ovn/ovs'
import type { Command } from 'commander'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { commandFailed, type Cluster, type PodContainer } from '../cluster.ts'
import { centralMembers, findLeader } from '../components.ts'
import { databases, type Database } from '../databases.ts'
import { openCluster, outputOf, print, printOutcome, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { render, renderData } from '../output.ts'

/** Shows what the leader says of its cluster. */
export async function showStatus(context: Context, command: Command, database: Database): Promise<void> {
  const { kind, schema } = database
  await using cluster = await openCluster(context, command)
  const { output } = outputOf(command)
  const leader = await findLeader(cluster, kind)
  const said = await statusOf(cluster, leader, database)
  print(
    context,
    output === 'json' || output === 'yaml'
      ? renderData(
          {
            database: schema,
            leader: leader.pod,
            isClustered: said.cluster !== undefined,
            storage: said.storage,
            ...(said.cluster !== undefined && { cluster: parseClusterStatus(said.cluster) }),
          },
          output,
        )
      : `${said.cluster ?? `Name: ${schema}\nStatus: standalone, in ${leader.pod}\n`}${said.storage}\n`,
  )
}

/** Takes a member out of the cluster. */
export async function kickMember(
  context: Context,
  command: Command,
  database: Database,
  server: string,
): Promise<void> {
  const { kind, schema } = database
  await using cluster = await openCluster(context, command)
  const leader = await findLeader(cluster, kind)
  const words = ['ovn-appctl', '-t', database.control, 'cluster/kick', schema, server]
  const { exitCode, stdout, stderr } = await cluster.ask(leader, words)
  context.exitCode = exitCode
  context.stderr.write(stderr)
  // Of itself it says nothing: it hands over what it leads, and leaves.
  const answer = exitCode === 0 && stdout === '' ? `leader ${server} leaves the cluster\n` : stdout
  const data = { database: schema, server, isKicked: exitCode === 0, answer: answer.trim() }
  printOutcome(context, command, data, answer)
}

/** Copies the database to a file. */
export async function backUp(
  context: Context,
  command: Command,
  database: Database,
  file: string | undefined,
): Promise<void> {
  const { kind, schema } = database
  await using cluster = await openCluster(context, command)
  const path = resolve(context.directory, file ?? join('.', `ovn${kind}_db.${suffixOf(new Date())}.backup`))
  const leader = await findLeader(cluster, kind)
  await saveTo(cluster, leader, database, path)
  const { size: bytes } = await stat(path)
  const data = { database: schema, leader: leader.pod, file: path, bytes }
  printOutcome(context, command, data, `backup ovn-${kind} db to ${path}\n`)
}

/** Shows what each member says of its storage. */
export async function showStorage(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const members = await centralMembers(cluster)
  const rows = await Promise.all(members.map((member) => storageOf(cluster, member)))
  const columns = [
    { title: 'pod', of: (row: (typeof rows)[number]) => row.pod },
    { title: 'nb', of: (row: (typeof rows)[number]) => row.nb },
    { title: 'sb', of: (row: (typeof rows)[number]) => row.sb },
  ]
  print(context, render({ data: rows, rows, columns }, outputOf(command)))
  if (rows.some(({ nb, sb }) => !isOk(nb) || !isOk(sb))) context.exitCode = 1
}

/** Puts the content of a backup in place of what the database has. */
export async function restoreContent(
  context: Context,
  command: Command,
  database: Database,
  file: string,
): Promise<void> {
  const path = resolve(context.directory, file)
  const { size } = await stat(path).catch(() => {
    throw new UsageError('file', path, 'write the path of a file that nb backup has written')
  })
  await using cluster = await openCluster(context, command)
  const leader = await findLeader(cluster, 'nb')
  const words = ['bash', '-c', restoreFromInput, 'bash', database.socket, database.schema, String(size)]
  const output = await cluster.ask(leader, words, createReadStream(path))
  if (output.exitCode !== 0) throw commandFailed(leader, words, output)
  const data = { database: database.schema, leader: leader.pod, file: path }
  printOutcome(context, command, data, `restored ovn-nb db from ${path}\n`)
}

/**
 * ovsdb-client wants a file that it can go back in, which its input is not. It gets none that did not come whole, because we were
 * interrupted.
 */
const restoreFromInput = `
file=$(mktemp) || exit
trap 'rm -f "$file"' EXIT
cat >"$file" && [ "$(stat -c %s "$file")" = "$3" ] && ovsdb-client --timeout=120 restore "$1" "$2" <"$file"`

interface Status {
  /** None of a database that stands alone. */
  readonly cluster: string | undefined
  readonly storage: string
}

async function statusOf(cluster: Cluster, member: PodContainer, database: Database): Promise<Status> {
  const { control, schema } = database
  const ask = ['ovn-appctl', '-t', control]
  const [raft, storage] = await Promise.all([
    cluster.ask(member, [...ask, 'cluster/status', schema]),
    cluster.tell(member, [...ask, 'ovsdb-server/get-db-storage-status', schema]),
  ])
  // A server that stands alone does not know the command, or says that it does.
  const isClustered = raft.exitCode === 0 && parseClusterStatus(raft.stdout).clusterId !== ''
  return { cluster: isClustered ? raft.stdout : undefined, storage: storage.trim() }
}

async function storageOf(
  cluster: Cluster,
  member: PodContainer,
): Promise<{ readonly pod: string; readonly nb: string; readonly sb: string }> {
  const [nb = '', sb = ''] = await Promise.all(
    [databases.nb, databases.sb].map(async ({ control, schema }) => {
      const command = ['ovn-appctl', '-t', control, 'ovsdb-server/get-db-storage-status', schema]
      const { exitCode, stdout, stderr } = await cluster.ask(member, command)
      return exitCode === 0 ? stdout.trim() : stderr.trim()
    }),
  )
  return { pod: member.pod, nb, sb }
}

function isOk(storage: string): boolean {
  return storage.startsWith('status: ok')
}

/** The file appears when it is whole. */
async function saveTo(
  cluster: Cluster,
  leader: PodContainer,
  { socket, schema }: Database,
  path: string,
): Promise<void> {
  const command = ['ovsdb-client', '--timeout=120', 'backup', socket, schema]
  const part = `${path}.part`
  const content = new PassThrough()
  const stderr = new PassThrough().resume()
  const file = await open(part, 'w', 0o600)
  try {
    const written = pipeline(content, file.createWriteStream())
    const ended = cluster.run(leader, command, { stdout: content, stderr }).finally(() => content.end())
    const [exitCode] = await Promise.all([ended, written])
    if (exitCode !== 0) throw commandFailed(leader, command, { exitCode, stdout: '', stderr: '' })
    await rename(part, path)
  } finally {
    await rm(part, { force: true })
  }
}

/** Month, day, hour, minute and seconds since 1970, as upstream names its files. */
function suffixOf(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const parts = [now.getMonth() + 1, now.getDate(), now.getHours(), now.getMinutes()].map(two)
  return `${parts.join('')}${Math.floor(now.getTime() / 1000)}`
}
