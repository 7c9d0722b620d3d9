import { CommandFailedError } from '@kube-ovn/testing-docker'
import { awaitRows } from './await-rows.ts'
import type { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'
import { northboundServer } from './northbound.ts'
import { raftPort } from './peer-network.ts'

const { database } = northboundServer

/** How often a member may end its connections between two answers. */
const patience = 5

/** One server of a cluster, in a container of its own. */
export class ClusterMember {
  /** Stop, kill, freeze and start it here. */
  readonly server: DatabaseServer
  readonly #container: Container

  private constructor(container: Container, server: DatabaseServer) {
    this.#container = container
    this.server = server
  }

  /** Makes the first member of a new cluster, or one that joins another. */
  static async create(container: Container, other?: ClusterMember): Promise<ClusterMember> {
    const join = other === undefined ? {} : { join: `${other.ip}:${raftPort}` }
    const raft = { port: raftPort, ...join }
    return new ClusterMember(container, await DatabaseServer.create(container, { ...northboundServer, raft }))
  }

  /** Makes its database anew, after it was stopped: of a new cluster, or of that of another. */
  async recreate(other?: ClusterMember): Promise<void> {
    await this.server.recreate(other === undefined ? {} : { join: `${other.ip}:${raftPort}` })
  }

  /** `tcp:IP:PORT` for clients. */
  get address(): string {
    return this.server.address
  }

  get ip(): string {
    return this.#container.address
  }

  /** Files of its machine as this one sees them: sockets in `run/ovn`, its database in `var/lib/ovn`. For root alone. */
  get root(): string {
    return this.#container.root
  }

  /** Resolves when the server is the leader as far as it knows. Rejects after a minute, or when `signal` is aborted. */
  async leading(signal: AbortSignal): Promise<void> {
    const where = [['name', '==', database]] as const
    const isLeader = { where, columns: ['leader'], rows: [{ leader: true }] }
    const patience = AbortSignal.any([signal, AbortSignal.timeout(60_000)])
    await awaitRows(this.server.address, { database: '_Server', table: 'Database', ...isLeader }, patience)
  }

  /** Runs `ovn-nbctl` with this server, and answers what it prints, without the last line feed. */
  async nbctl(...args: readonly string[]): Promise<string> {
    const options = ['--timeout=30', '--no-leader-only', `--db=${this.server.socket}`]
    return (await this.#container.run(['ovn-nbctl', ...options, ...args])).replace(/\n$/, '')
  }

  /**
   * {@link nbctl}, once it is in a majority. A member whose leader changes meanwhile, or that lets go of entries which it alone had, ends its
   * connections: then it is asked again.
   */
  async ask(...args: readonly string[]): Promise<string> {
    for (let tries = 1; ; tries++) {
      await this.server.connected()
      try {
        return await this.nbctl(...args)
      } catch (error) {
        const hasHungUp =
          error instanceof CommandFailedError && error.details.output.includes('connection failed')
        if (!hasHungUp || tries === patience) throw error
      }
    }
  }

  /** Arms a fault that ovsdb-server has for its own tests, e.g. `crash-after-sending-append-request`. */
  async arm(fault: string): Promise<void> {
    await this.server.control(`cluster/failure-test ${fault}`)
  }

  /** Writes a snapshot and forgets the log before it. */
  async compact(): Promise<void> {
    await this.server.control(`ovsdb-server/compact ${database}`)
  }

  /** Drops what these members send to this one; with none of them, nothing any more. Clients are not concerned. */
  async ignore(peers: readonly ClusterMember[]): Promise<void> {
    await this.#drop(peers, ['input'])
  }

  /**
   * Drops what this member and these send each other.
   *
   * Both ends of a connection must do so: where it is led through a proxy, the end that accepted it cannot tell whose it is.
   */
  async isolate(peers: readonly ClusterMember[]): Promise<void> {
    await this.#drop(peers, ['input', 'output'])
  }

  async #drop(peers: readonly ClusterMember[], hooks: readonly ('input' | 'output')[]): Promise<void> {
    const addresses = peers.map(({ ip }) => ip).join(', ')
    const rules = hooks.flatMap((hook) =>
      ['sport', 'dport'].map((end) => {
        const peer = `ip ${hook === 'input' ? 'saddr' : 'daddr'} { ${addresses} }`
        return `add rule ip partition ${hook} ${peer} tcp ${end} ${raftPort} drop`
      }),
    )
    const lines = [
      'add table ip partition',
      'delete table ip partition',
      'add table ip partition',
      'add chain ip partition input { type filter hook input priority 0; }',
      // Before addresses are translated.
      'add chain ip partition output { type filter hook output priority -300; }',
      ...(peers.length === 0 ? [] : rules),
    ]
    await this.#container.run(['nft', '-f', '-'], lines.map((line) => `${line}\n`).join(''))
  }
}
