import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { type Certificates, createCertificates } from './certificates.ts'
import { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'

export interface NorthboundOptions {
  /** With a southbound database beside it. */
  readonly southbound?: boolean
  /** With ovn-northd, and hence a southbound database. It writes to the northbound database, too. */
  readonly northd?: boolean
  /** Number of members of a RAFT cluster; a standalone database when absent. */
  readonly members?: number
  /** With a TLS port beside the plain one. */
  readonly tls?: boolean
}

/** A northbound database for a test. Disposing it removes everything. */
export interface Northbound extends AsyncDisposable {
  /** `tcp:IP:PORT` of the server, or of the first member of the cluster. */
  readonly address: string
  /** The servers: one, or the members of the cluster. */
  readonly servers: readonly DatabaseServer[]
  readonly southbound: DatabaseServer | undefined
  readonly tls: { readonly address: string; readonly certificates: Certificates } | undefined
  /** Runs `ovn-nbctl` and answers what it prints, without the last line feed. */
  nbctl(...args: readonly string[]): Promise<string>
  /** Runs `ovn-sbctl`. */
  sbctl(...args: readonly string[]): Promise<string>
  /** Number of transactions committed since the database was made. Not for a cluster. */
  transactions(): Promise<number>
  /** Removes every row, in one transaction. The row of NB_Global stays, with its columns cleared. */
  reset(): Promise<void>
  /** Ends ovsdb-server in good order; {@link start} brings it back. */
  stop(): Promise<void>
  /** Ends ovsdb-server by SIGKILL. */
  kill(): Promise<void>
  start(): Promise<void>
}

/**
 * Starts a real northbound database in a container.
 *
 *     await using northbound = await startNorthbound()
 *     await northbound.nbctl('ls-add', 'sw0')
 */
export async function startNorthbound(options: NorthboundOptions = {}): Promise<Northbound> {
  await using stack = new AsyncDisposableStack()
  const container = stack.use(await Container.start())
  const certificates = options.tls === true ? await createCertificates(container) : undefined
  const first = await createMember(container, 0, options)
  const servers = [first]
  for (let member = 1; member < (options.members ?? 1); member++) {
    servers.push(await createMember(container, member, options))
  }
  const nbctl = client(container, 'ovn-nbctl', servers)
  await nbctl('init')
  const southbound =
    options.southbound === true || options.northd === true ? await createSouthbound(container) : undefined
  const sbctl = client(container, 'ovn-sbctl', southbound === undefined ? [] : [southbound])
  if (southbound !== undefined) await sbctl('init')
  if (options.northd === true && southbound !== undefined) await startNorthd(container, servers, southbound)
  const owned = stack.move()

  return {
    address: first.address,
    servers,
    southbound,
    tls: certificates && { address: `ssl:${container.address}:${tlsPort}`, certificates },
    nbctl,
    sbctl,
    transactions: async () => (await first.transactionLog()).length,
    reset: async () => void (await first.transact(clearing)),
    stop: () => first.stop(),
    kill: () => first.kill(),
    start: () => first.start(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const tlsPort = 6651

function createMember(
  container: Container,
  member: number,
  options: NorthboundOptions,
): Promise<DatabaseServer> {
  const firstRaftPort = 16641
  const join = member === 0 ? {} : { join: firstRaftPort }
  return DatabaseServer.create(container, {
    database: 'OVN_Northbound',
    id: `nb${member}`,
    schemaPath: '/usr/share/ovn/ovn-nb.ovsschema',
    port: 6641 + member * 100,
    ...(options.members === undefined ? {} : { raft: { port: firstRaftPort + member * 100, ...join } }),
    ...(options.tls === true && member === 0 ? { tlsPort } : {}),
  })
}

function createSouthbound(container: Container): Promise<DatabaseServer> {
  return DatabaseServer.create(container, {
    database: 'OVN_Southbound',
    id: 'sb',
    schemaPath: '/usr/share/ovn/ovn-sb.ovsschema',
    port: 6642,
  })
}

async function startNorthd(
  container: Container,
  northbound: readonly DatabaseServer[],
  southbound: DatabaseServer,
): Promise<void> {
  await container.script(
    `ovn-northd --detach --no-chdir --pidfile=/run/ovn/northd.pid --unixctl=/run/ovn/northd.ctl \\
  --log-file=/var/log/ovn/northd.log --ovnnb-db=${remotes(northbound)} --ovnsb-db=${southbound.socket} 2>/dev/null`,
  )
}

function client(
  container: Container,
  command: string,
  servers: readonly DatabaseServer[],
): (...args: readonly string[]) => Promise<string> {
  return async (...args) => {
    const output = await container.run([command, '--timeout=30', `--db=${remotes(servers)}`, ...args])
    return output.replace(/\n$/, '')
  }
}

function remotes(servers: readonly DatabaseServer[]): string {
  return servers.map(({ socket }) => socket).join(',')
}

const clearing = Object.keys(ovnNorthboundSchema.tables).map((table) =>
  table === 'NB_Global'
    ? { op: 'update', table, where: [], row: clearedColumns() }
    : { op: 'delete', table, where: [] },
)

function clearedColumns(): object {
  const empty = { string: '', boolean: false, integer: 0 } as const
  return Object.fromEntries(
    Object.entries(ovnNorthboundSchema.tables.NB_Global.columns).map(
      ([column, { type }]): [string, unknown] => {
        if (typeof type === 'string') return [column, empty[type]]
        if ('value' in type) return [column, ['map', []]]
        return [column, 'min' in type ? ['set', []] : 0]
      },
    ),
  )
}
