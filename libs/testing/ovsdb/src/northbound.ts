import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { type Certificates, createCertificates } from './certificates.ts'
import { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'

export interface NorthboundOptions {
  /** With a southbound database beside it. */
  readonly southbound?: boolean
  /** With ovn-northd, and hence a southbound database. It writes to the northbound database, too. */
  readonly northd?: boolean
  /** With a TLS port beside the plain one. */
  readonly tls?: boolean
}

/** A northbound database for a test. Disposing it removes everything. */
export interface Northbound extends AsyncDisposable {
  /** `tcp:IP:PORT` */
  readonly address: string
  /** Files of its machine as this one sees them: sockets in `run/ovn`, databases in `var/lib/ovn`. For root alone. */
  readonly root: string
  readonly server: DatabaseServer
  readonly southbound: DatabaseServer | undefined
  readonly tls: { readonly address: string; readonly certificates: Certificates } | undefined
  /** Runs `ovn-nbctl` and answers what it prints, without the last line feed. */
  nbctl(...args: readonly string[]): Promise<string>
  /** Runs `ovn-sbctl`. */
  sbctl(...args: readonly string[]): Promise<string>
  /** Runs a shell script beside the servers, whose sockets are in `/run/ovn`. */
  script(text: string): Promise<string>
  /** Number of transactions committed since the database was made. */
  transactions(): Promise<number>
  /** What a failed test leaves for a reader: file names and texts. */
  evidence(): Promise<Readonly<Record<string, string>>>
  /** Removes every row, in one transaction. The row of NB_Global stays, with its columns cleared but for its sequence numbers. Of the Southbound chassis go. */
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
  const server = await DatabaseServer.create(container, {
    ...northboundServer,
    ...(options.tls === true ? { tlsPort } : {}),
  })
  const nbctl = client(container, 'ovn-nbctl', server)
  await nbctl('init')
  const southbound =
    options.southbound === true || options.northd === true ? await createSouthbound(container) : undefined
  const sbctl = client(container, 'ovn-sbctl', southbound)
  if (southbound !== undefined) await sbctl('init')
  if (options.northd === true && southbound !== undefined) await startNorthd(container, server, southbound)
  const owned = stack.move()

  return {
    address: server.address,
    root: container.root,
    server,
    southbound,
    tls: certificates && { address: `ssl:${container.address}:${tlsPort}`, certificates },
    nbctl,
    sbctl,
    script: (text) => container.script(text),
    transactions: () => server.transactionCount(),
    evidence: () => evidence(server, southbound),
    reset: async () => {
      await server.transact(clearing)
      await southbound?.transact(clearingChassis)
    },
    stop: () => server.stop(),
    kill: () => server.kill(),
    start: () => server.start(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const tlsPort = 6651

async function evidence(
  northbound: DatabaseServer,
  southbound: DatabaseServer | undefined,
): Promise<Readonly<Record<string, string>>> {
  const [dump, log, southboundDump] = await Promise.all([
    northbound.dump(),
    northbound.log(),
    southbound?.dump(),
  ])
  return {
    'northbound.txt': dump,
    'northbound.log': log,
    ...(southboundDump === undefined ? {} : { 'southbound.txt': southboundDump }),
  }
}

/** How a server of the northbound database is made. */
export const northboundServer = {
  database: 'OVN_Northbound',
  id: 'nb',
  schemaPath: '/usr/share/ovn/ovn-nb.ovsschema',
  port: 6641,
} as const

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
  northbound: DatabaseServer,
  southbound: DatabaseServer,
): Promise<void> {
  await container.script(
    `ovn-northd --detach --no-chdir --pidfile=/run/ovn/ovn-northd.pid \\
  --log-file=/var/log/ovn/northd.log --ovnnb-db=${northbound.socket} --ovnsb-db=${southbound.socket} 2>/dev/null`,
  )
}

function client(
  container: Container,
  command: string,
  server: DatabaseServer | undefined,
): (...args: readonly string[]) => Promise<string> {
  return async (...args) => {
    const output = await container.run([command, '--timeout=30', `--db=${server?.socket ?? ''}`, ...args])
    return output.replace(/\n$/, '')
  }
}

/** Sequence numbers: who waits for ovn-northd compares them, and is not to find those of an earlier test. */
const counters = new Set(['nb_cfg', 'sb_cfg', 'hv_cfg'])

const clearing = Object.keys(ovnNorthboundSchema.tables).map((table) =>
  table === 'NB_Global'
    ? { op: 'update', table, where: [], row: clearedColumns() }
    : { op: 'delete', table, where: [] },
)

const clearingChassis = ['Chassis', 'Chassis_Private'].map((table) => ({ op: 'delete', table, where: [] }))

function clearedColumns(): object {
  const empty = { string: '', boolean: false, integer: 0 } as const
  return Object.fromEntries(
    Object.entries(ovnNorthboundSchema.tables.NB_Global.columns)
      .filter(([column]) => !counters.has(column))
      .map(([column, { type }]): [string, unknown] => {
        if (typeof type === 'string') return [column, empty[type]]
        if ('value' in type) return [column, ['map', []]]
        return [column, 'min' in type ? ['set', []] : 0]
      }),
  )
}
