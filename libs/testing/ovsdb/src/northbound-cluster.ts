import { ClusterMember } from './cluster-member.ts'
import { Container } from './container.ts'
import { PeerNetwork, type PeerMessage } from './peer-network.ts'
import type { TransactionRecord } from './transaction-log.ts'

export interface NorthboundClusterOptions {
  /** Leads what members tell each other through this process, for {@link NorthboundCluster.slow} and {@link NorthboundCluster.messages}. */
  readonly observed?: boolean
}

/**
 * A northbound database of a RAFT cluster of three, for tests of what happens when it falls apart.
 *
 *     await using cluster = await NorthboundCluster.start()
 *     await cluster.partition([await cluster.leader()])
 */
export class NorthboundCluster implements AsyncDisposable {
  readonly members: readonly ClusterMember[]
  readonly #network: PeerNetwork | undefined
  readonly #resources: AsyncDisposable

  private constructor(
    members: readonly ClusterMember[],
    network: PeerNetwork | undefined,
    resources: AsyncDisposable,
  ) {
    this.members = members
    this.#network = network
    this.#resources = resources
  }

  static async start(options: NorthboundClusterOptions = {}): Promise<NorthboundCluster> {
    await using stack = new AsyncDisposableStack()
    const start = async () => stack.use(await Container.start())
    const starting = [start(), start(), start()] as const
    // One that fails must not keep the others from being disposed of.
    await Promise.allSettled(starting)
    const containers = await Promise.all(starting)
    const network = options.observed === true ? stack.use(await PeerNetwork.open(containers)) : undefined
    const [one, two, three] = containers
    const first = await ClusterMember.create(one)
    const members = [first, await ClusterMember.create(two, first), await ClusterMember.create(three, first)]
    const cluster = new NorthboundCluster(members, network, stack.move())
    await cluster.nbctl('init')
    return cluster
  }

  /** `tcp:IP:PORT` of every member. */
  get addresses(): readonly string[] {
    return this.members.map(({ address }) => address)
  }

  /** Waits until one of these members is the leader, and answers it. One that is cut off believes in itself for a while. */
  async leader(among: readonly ClusterMember[] = this.members): Promise<ClusterMember> {
    const found = new AbortController()
    try {
      return await Promise.any(
        among.map(async (member) => {
          await member.leading(found.signal)
          return member
        }),
      )
    } finally {
      found.abort()
    }
  }

  /** Waits until there is a leader, and answers the members that are not. */
  async followers(): Promise<readonly ClusterMember[]> {
    return this.except(await this.leader())
  }

  except(one: ClusterMember): readonly ClusterMember[] {
    return this.members.filter((member) => member !== one)
  }

  /** Runs `ovn-nbctl` with the leader, and answers what it prints, without the last line feed. */
  async nbctl(...args: readonly string[]): Promise<string> {
    return (await this.leader()).nbctl(...args)
  }

  /** Drops every packet between these members and the others. Both sides still talk to clients and among themselves. */
  async partition(side: readonly ClusterMember[]): Promise<void> {
    const others = this.members.filter((member) => !side.includes(member))
    await Promise.all(this.members.map((member) => member.isolate(side.includes(member) ? others : side)))
  }

  /**
   * Sets how long followers wait for the leader before they elect another: 1 000 ms at first.
   *
   * Tests that need a leader which is cut off to stay one for a while are not to depend on the speed of the machine.
   */
  async setElectionTimer(ms: number): Promise<void> {
    // It may be doubled at most, and each change must be committed before the next.
    for (let stepMs = 2_000; stepMs < ms; stepMs *= 2) await this.#setElectionTimer(stepMs)
    await this.#setElectionTimer(ms)
  }

  /** Loses the database, and founds another cluster with the same members. */
  async recreate(): Promise<void> {
    await this.#killAll()
    const [first, ...others] = this.members
    await first?.recreate()
    for (const member of others) await member.recreate(first)
    await this.nbctl('init')
  }

  /** Takes a backup of every member, for {@link restore}. */
  async save(): Promise<void> {
    await this.#killAll()
    await Promise.all(this.members.map(({ server }) => server.save()))
    await Promise.all(this.members.map(({ server }) => server.start()))
  }

  /** Puts every member back to where it was at the last {@link save}. */
  async restore(): Promise<void> {
    await this.#killAll()
    await Promise.all(this.members.map(({ server }) => server.restore()))
    await Promise.all(this.members.map(({ server }) => server.start()))
  }

  /** Ends every partition. */
  async heal(): Promise<void> {
    await Promise.all(this.members.map((member) => member.ignore([])))
  }

  /** Has what these members and the others tell each other arrive so much later, and everything else at once. */
  slow(delayMs: number, members: readonly ClusterMember[] = this.members): void {
    this.#observed.slow(
      delayMs,
      members.map(({ ip }) => ip),
    )
  }

  /** What members told each other since the start or the last {@link forgetMessages}. */
  get messages(): readonly PeerMessage[] {
    return this.#observed.messages
  }

  forgetMessages(): void {
    this.#observed.forget()
  }

  /** What is committed since the last snapshot, as the leader has it. */
  async transactionLog(): Promise<readonly TransactionRecord[]> {
    return (await this.leader()).server.transactionLog()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#resources[Symbol.asyncDispose]()
  }

  get #observed(): PeerNetwork {
    if (this.#network === undefined) throw new TypeError('the cluster was not started with `observed`')
    return this.#network
  }

  async #killAll(): Promise<void> {
    await Promise.all(this.members.map(({ server }) => server.kill()))
  }

  /** Who leads is asked: until the time is longer, another one may be elected on a machine that is busy. */
  async #setElectionTimer(ms: number): Promise<void> {
    for (;;) {
      const leader = await this.leader()
      try {
        await leader.server.control(`cluster/change-election-timer OVN_Northbound ${ms}`)
        // What comes after it in the log is committed after it.
        await leader.server.transact([
          { op: 'update', table: 'NB_Global', where: [], row: { nb_cfg_timestamp: ms } },
        ])
        return
      } catch (error) {
        if ((await this.leader()) === leader) throw error
      }
    }
  }
}
