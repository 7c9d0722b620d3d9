import {
  askDaemon,
  controlSocketOf,
  DaemonRefusedError,
  parseClusterStatus,
  parseMemoryUsage,
} from '@kube-ovn/ovs'
import type { DaemonReading, DatabaseReading, Sources } from '@kube-ovn/telemetry'

/** A server of a database, as its control socket shows it. */
export interface WatchedServer {
  /** As in the schema. */
  readonly database: string
  readonly component: string
  /** Its control socket. */
  readonly control: string
}

export interface DaemonsOptions {
  readonly servers: readonly WatchedServer[]
  /** File with the process id of ovn-northd. */
  readonly northdPid: string
  /** For each question. All are asked at the same time. */
  readonly timeoutMs: number
  readonly sources: Sources
}

/** What is asked of daemons over their control sockets. */
export interface DaemonAnswers {
  readonly daemons: readonly DaemonReading[]
  readonly databases: readonly Omit<DatabaseReading, 'fileBytes'>[]
}

const northdComponent = 'ovn-northd'

/** Asks all daemons once, in a limited time. It never rejects: who does not answer is down. */
export async function askDaemons({
  servers,
  northdPid,
  timeoutMs,
  sources,
}: DaemonsOptions): Promise<DaemonAnswers> {
  const [northd, ...databases] = await Promise.all([
    sources.ask('ovn-northd-control', () => askNorthd(northdPid, timeoutMs)),
    ...servers.map((server) =>
      sources.ask(`${server.component}-control`, () => askServer(server, timeoutMs)),
    ),
  ])
  const down = { status: 0, memory: new Map() } as const
  const answered = servers.map((server, index) => ({ server, answer: databases[index] }))
  return {
    daemons: [
      ...answered.map(({ server: { component }, answer }) => ({ component, ...(answer?.daemon ?? down) })),
      { component: northdComponent, ...(northd ?? down) },
    ],
    databases: answered.map(({ server: { component, database: name }, answer }) => ({
      name,
      component,
      isStorageOk: answer?.isStorageOk ?? false,
      cluster: answer?.cluster,
    })),
  }
}

type DaemonState = Omit<DaemonReading, 'component'>

async function askServer({ control: path, database }: WatchedServer, timeoutMs: number) {
  const ask = (method: string, ...args: readonly string[]) => askDaemon({ path, method, args, timeoutMs })
  const [storage, cluster, memory] = await Promise.all([
    ask('ovsdb-server/get-db-storage-status', database),
    ask('cluster/status', database).then(parseClusterStatus, (error: unknown) => {
      // Only of a member of a cluster does it know one.
      if (error instanceof DaemonRefusedError) return 'standalone' as const
      throw error
    }),
    ask('memory/show').then(parseMemoryUsage),
  ])
  const isStorageOk = /^status: ok$/m.test(storage)
  const daemon: DaemonState = { status: roleOf(cluster, isStorageOk), memory }
  return { daemon, isStorageOk, cluster }
}

function roleOf(cluster: Exclude<DatabaseReading['cluster'], undefined>, isStorageOk: boolean): 0 | 1 | 2 {
  if (cluster === 'standalone') return isStorageOk ? 1 : 0
  return cluster.role === 'leader' ? 1 : cluster.role === 'follower' ? 2 : 0
}

async function askNorthd(pidFile: string, timeoutMs: number): Promise<DaemonState> {
  const path = await controlSocketOf(pidFile)
  const [status, memory] = await Promise.all([
    askDaemon({ path, method: 'status', timeoutMs }),
    askDaemon({ path, method: 'memory/show', timeoutMs }).then(parseMemoryUsage),
  ])
  const [, state] = /^Status: (\w+)/m.exec(status) ?? []
  return { status: state === 'active' ? 1 : state === 'standby' ? 2 : 0, memory }
}
