import { parseClusterStatus } from '@kube-ovn/ovs'
import type { Command } from 'commander'
import { createReadStream, createWriteStream } from 'node:fs'
import { access, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { commandFailed, type Cluster, type PodContainer } from '../cluster.ts'
import { centralMembers, databases, findLeader, type Database } from '../components.ts'
import { openCluster, outputOf, print, printOutcome, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { withClusterOptions, withExamples, withOutcomeOption, withOutputOptions } from '../options.ts'
import { render, renderData } from '../output.ts'

/** Adds `nb` and `sb`: the state of the databases of OVN, and what may be done to them. */
export function addDatabases(program: Command, context: Context): void {
  for (const database of Object.values(databases)) addDatabase(program, context, database)
}

function addDatabase(program: Command, context: Context, database: Database): void {
  const { kind, schema } = database
  const group = withExamples(program.command(kind).description(`look after the database ${schema}`), [
    `kubectl ko ${kind} status`,
    `kubectl ko ${kind} backup`,
  ])

  const status = withOutputOptions(
    withClusterOptions(group.command('status').description('what its leader says of the cluster')),
  )
  withExamples(status, [`kubectl ko ${kind} status`, `kubectl ko ${kind} status -o json`]).action(
    async () => {
      await using cluster = await openCluster(context, status)
      const { output } = outputOf(status)
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
    },
  )

  const kick = withOutcomeOption(
    withClusterOptions(
      group
        .command('kick')
        .description('take a member out of the cluster')
        .argument('<server>', 'its identifier, whole or abbreviated, as status shows it'),
    ),
  )
  withExamples(kick, [`kubectl ko ${kind} kick a1b2`]).action(async (server: string) => {
    await using cluster = await openCluster(context, kick)
    const leader = await findLeader(cluster, kind)
    const command = ['ovn-appctl', '-t', database.control, 'cluster/kick', schema, server]
    const { exitCode, stdout, stderr } = await cluster.ask(leader, command)
    context.exitCode = exitCode
    context.stderr.write(stderr)
    const data = { database: schema, server, isKicked: exitCode === 0, answer: stdout.trim() }
    printOutcome(context, kick, data, stdout)
  })

  const backup = withOutcomeOption(
    withClusterOptions(
      group
        .command('backup')
        .description('copy the database to a file; it goes on serving')
        .argument('[file]', 'default: a name with the present time, in the working directory'),
    ),
  )
  withExamples(backup, [`kubectl ko ${kind} backup`, `kubectl ko ${kind} backup /backups/${kind}.db`]).action(
    async (file: string | undefined) => {
      await using cluster = await openCluster(context, backup)
      const path = resolve(
        context.directory,
        file ?? join('.', `ovn${kind}_db.${suffixOf(new Date())}.backup`),
      )
      const leader = await findLeader(cluster, kind)
      await saveTo(cluster, leader, database, path)
      const { size: bytes } = await stat(path)
      const data = { database: schema, leader: leader.pod, file: path, bytes }
      printOutcome(context, backup, data, `backup ovn-${kind} db to ${path}\n`)
    },
  )

  const dbstatus = withOutputOptions(
    withClusterOptions(group.command('dbstatus').description('what each member says of its storage')),
  )
  withExamples(dbstatus, [`kubectl ko ${kind} dbstatus`, `kubectl ko ${kind} dbstatus -o json`]).action(
    async () => {
      await using cluster = await openCluster(context, dbstatus)
      const members = await centralMembers(cluster)
      const rows = await Promise.all(members.map((member) => storageOf(cluster, member)))
      const columns = [
        { title: 'pod', of: (row: (typeof rows)[number]) => row.pod },
        { title: 'nb', of: (row: (typeof rows)[number]) => row.nb },
        { title: 'sb', of: (row: (typeof rows)[number]) => row.sb },
      ]
      print(context, render({ data: rows, rows, columns }, outputOf(dbstatus)))
      if (rows.some(({ nb, sb }) => !isOk(nb) || !isOk(sb))) context.exitCode = 1
    },
  )

  if (kind === 'nb') addRestore(group, context, database)
}

function addRestore(group: Command, context: Context, database: Database): void {
  const restore = withOutcomeOption(
    withClusterOptions(
      group
        .command('restore')
        .description(
          'put the content of a backup in place of what the database has, in one transaction; the controller then corrects what has changed since',
        )
        .argument('<file>', 'as `backup` wrote it')
        .requiredOption('--yes', 'say that the present content may go'),
    ),
  )
  withExamples(restore, ['kubectl ko nb restore ovnnb_db.112502011700000000.backup --yes']).action(
    async (file: string) => {
      const path = resolve(context.directory, file)
      await access(path).catch(() => {
        throw new UsageError('file', path, 'write the path of a file that nb backup has written')
      })
      await using cluster = await openCluster(context, restore)
      const leader = await findLeader(cluster, 'nb')
      const command = ['bash', '-c', restoreFromInput, 'bash', database.socket, database.schema]
      const output = await cluster.ask(leader, command, createReadStream(path))
      if (output.exitCode !== 0) throw commandFailed(leader, command, output)
      const data = { database: database.schema, leader: leader.pod, file: path }
      printOutcome(context, restore, data, `restored ovn-nb db from ${path}\n`)
    },
  )
}

/** ovsdb-client wants a file that it can go back in, which its input is not. */
const restoreFromInput = `
file=$(mktemp) || exit
trap 'rm -f "$file"' EXIT
cat >"$file" && ovsdb-client --timeout=120 restore "$1" "$2" <"$file"`

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
  return { cluster: raft.exitCode === 0 ? raft.stdout : undefined, storage: storage.trim() }
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
  try {
    const written = pipeline(content, createWriteStream(part, { mode: 0o600 }))
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
