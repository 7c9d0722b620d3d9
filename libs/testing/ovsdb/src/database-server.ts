import { waitForEnd } from '@kube-ovn/testing-docker'
import type { Container } from './container.ts'
import { parseRaftLog, parseTransactionLog, type TransactionRecord } from './transaction-log.ts'

interface DatabaseServerOptions {
  /** Name of the database, as in its schema. */
  readonly database: string
  /** Tells apart the servers of one container. */
  readonly id: string
  readonly schemaPath: string
  readonly port: number
  /** Another port, for TLS, with the files of `certificates.ts`. */
  readonly tlsPort?: number
  /** Makes it a member of a RAFT cluster: the port for its peers, and the `IP:PORT` of a member that is there already. */
  readonly raft?: { readonly port: number; readonly join?: string }
}

/** One ovsdb-server process with one database in memory-backed storage. */
export class DatabaseServer {
  /** For `ovsdb-client`, from the host. */
  readonly address: string
  /** For commands inside the container. */
  readonly socket: string
  readonly #container: Container
  #options: DatabaseServerOptions
  #counted = { file: '', bytes: 0, records: 0 }

  private constructor(container: Container, options: DatabaseServerOptions) {
    this.#container = container
    this.#options = options
    this.address = `tcp:${container.address}:${options.port}`
    this.socket = `unix:/run/ovn/${options.id}.sock`
  }

  /** Makes an empty database and serves it. */
  static async create(container: Container, options: DatabaseServerOptions): Promise<DatabaseServer> {
    const server = new DatabaseServer(container, options)
    await container.script(server.#createCommand())
    await server.start()
    return server
  }

  /** Makes the database anew, empty, after {@link stop} or {@link kill}: as {@link create} does, or as a member of what `join` belongs to. */
  async recreate(raft?: { readonly join?: string }): Promise<void> {
    if (this.#options.raft !== undefined && raft !== undefined) {
      const { port } = this.#options.raft
      this.#options = { ...this.#options, raft: { port, ...raft } }
    }
    await this.#container.script(`rm -f ${this.#file}\n${this.#createCommand()}`)
    await this.start()
  }

  /** Keeps a copy of the database as it is, for {@link restore}. To be called while the server does not run. */
  async save(): Promise<void> {
    await this.#container.script(`cp ${this.#file} ${this.#file}.saved`)
  }

  /** Puts back what {@link save} kept. To be called while the server does not run. */
  async restore(): Promise<void> {
    await this.#container.script(`cp ${this.#file}.saved ${this.#file}`)
  }

  /** Serves the database again after {@link stop} or {@link kill}. */
  async start(): Promise<void> {
    await this.#container.script(this.#startCommand())
    await this.connected()
  }

  /** Resolves when it serves the database, and is in a majority if it is a member of a cluster. Rejects after a minute. */
  async connected(): Promise<void> {
    const { database } = this.#options
    await this.#container.run(['ovsdb-client', '--timeout=60', 'wait', this.socket, database, 'connected'])
  }

  /** Lets the process end in good order. */
  async stop(): Promise<void> {
    await this.#container.script(`pid=$(cat ${this.#pidFile})\n${this.#control} exit\n${waitForEnd}`)
  }

  /** Ends the process by SIGKILL. */
  async kill(): Promise<void> {
    await this.#container.script(`pid=$(cat ${this.#pidFile})\nkill -KILL $pid\n${waitForEnd}`)
  }

  /** Stops the process in its tracks: connections stay open, and nothing is answered. */
  async freeze(): Promise<void> {
    await this.#container.script(`kill -STOP $(cat ${this.#pidFile})`)
  }

  async thaw(): Promise<void> {
    await this.#container.script(`kill -CONT $(cat ${this.#pidFile})`)
  }

  /** Sends a command to the running server, e.g. `cluster/status OVN_Northbound`. */
  control(command: string): Promise<string> {
    return this.#container.script(`${this.#control} ${command}`)
  }

  /** Sends one transaction of RFC 7047 operations and answers the results. */
  async transact(operations: readonly object[]): Promise<unknown> {
    const transaction = JSON.stringify([this.#options.database, ...operations])
    return JSON.parse(await this.#container.run(['ovsdb-client', 'transact', this.socket, transaction]))
  }

  /** Converts the database to the schema that it has, which cancels everybody's monitors. */
  async convert(): Promise<void> {
    await this.#container.run(['ovsdb-client', 'convert', this.socket, this.#options.schemaPath])
  }

  /**
   * Every transaction committed since the database was made, oldest first.
   *
   * That of a member of a cluster begins with its last snapshot, and has what the member knows to be committed.
   */
  async transactionLog(): Promise<readonly TransactionRecord[]> {
    const text = await this.#container.run(['cat', this.#file])
    return this.#options.raft === undefined ? parseTransactionLog(text) : parseRaftLog(text)
  }

  /**
   * How many transactions were committed since the database was made.
   *
   * Only what was added since the last call is read: the file grows with every test.
   */
  async transactionCount(): Promise<number> {
    if (this.#options.raft !== undefined) return (await this.transactionLog()).length
    const { file, bytes, records } = this.#counted
    const output = await this.#container.script(
      `stat -c %i ${this.#file}\ntail -c +${bytes + 1} ${this.#file}`,
    )
    const inode = output.slice(0, output.indexOf('\n'))
    const added = output.slice(inode.length + 1)
    const known = inode === file || bytes === 0
    this.#counted = known
      ? { file: inode, bytes: bytes + Buffer.byteLength(added), records: records + countRecords(added) }
      : { file: '', bytes: 0, records: 0 }
    // It was written anew, by a conversion or a compaction. The first record is the schema.
    return known ? this.#counted.records - 1 : this.transactionCount()
  }

  /** The contents of the database as `ovsdb-client dump` prints them, for a reader. */
  dump(): Promise<string> {
    return this.#container.run([
      ...['ovsdb-client', '--timeout=10', '--format=list', '--data=string'],
      ...['dump', this.socket, this.#options.database],
    ] as [string, ...string[]])
  }

  /** The log of ovsdb-server. */
  log(): Promise<string> {
    return this.#container.run(['cat', `/var/log/ovn/${this.#options.id}.log`])
  }

  /** Milliseconds that `ovsdb-client dump` takes beside the server, its output thrown away. */
  async timeDump(): Promise<number> {
    const { database } = this.#options
    const times = await this.#container.script(
      `date +%s%N\novsdb-client dump ${this.socket} ${database} >/dev/null\ndate +%s%N`,
    )
    const [started, ended] = times.split('\n').map(Number)
    return ((ended ?? Number.NaN) - (started ?? Number.NaN)) / 1e6
  }

  get #file(): string {
    return `/var/lib/ovn/${this.#options.id}.db`
  }

  get #pidFile(): string {
    return `/run/ovn/${this.#options.id}.pid`
  }

  get #control(): string {
    return `ovs-appctl --timeout=10 --target=/run/ovn/${this.#options.id}.ctl`
  }

  #createCommand(): string {
    const { database, schemaPath, raft } = this.#options
    if (raft === undefined) return `ovsdb-tool create ${this.#file} ${schemaPath}`
    const local = `tcp:${this.#container.address}:${raft.port}`
    return raft.join === undefined
      ? `ovsdb-tool create-cluster ${this.#file} ${schemaPath} ${local}`
      : `ovsdb-tool join-cluster ${this.#file} ${database} ${local} tcp:${raft.join}`
  }

  #startCommand(): string {
    const { id, port, tlsPort } = this.#options
    const errors = `/var/log/ovn/${id}.err`
    return [
      `ovsdb-server --detach --no-chdir --pidfile=${this.#pidFile} --unixctl=/run/ovn/${id}.ctl`,
      `--log-file=/var/log/ovn/${id}.log --remote=p${this.socket} --remote=ptcp:${port}:0.0.0.0`,
      ...(tlsPort === undefined
        ? []
        : [`--remote=pssl:${tlsPort}:0.0.0.0 -C /run/ovn/ca.pem -c /run/ovn/cert.pem -p /run/ovn/key.pem`]),
      // A daemon that had the pipe would keep the command from ending.
      `${this.#file} 2>${errors} || { cat ${errors} >&2; exit 1; }`,
    ].join(' ')
  }
}

function countRecords(text: string): number {
  return text.split('\n').filter((line) => line.startsWith('{')).length
}
