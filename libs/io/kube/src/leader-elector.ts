import { leases, type Lease } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import { sleep, type Clock } from '@kube-ovn/time'
import type { KubeClient } from './client.ts'
import { KubeAlreadyExistsError, KubeConflictError } from './errors.ts'

export interface LeaderElectorOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger: Logger
  /** The Lease that candidates compete for. */
  readonly namespace: string
  readonly name: string
  /** Tells this candidate from all others, also from an earlier run on the same host. */
  readonly identity: string
  /** Others wait so long after the last sign of life. Default 30 s. */
  readonly leaseDurationMs?: number
  /** The leader gives up when it could not renew for so long; shorter than `leaseDurationMs`. Default 20 s. */
  readonly renewDeadlineMs?: number
  /** Time between two attempts to acquire or renew, jittered upwards by a fifth. Default 6 s. */
  readonly retryPeriodMs?: number
  readonly random?: () => number
  /**
   * We lead from now on, until `signal` is aborted.
   *
   * Only once the answer is fulfilled, the elector hands the Lease back, or competes for it again: the work of two leaders
   * must not overlap, not even in one process. The answer must not be rejected.
   */
  readonly onElected: (signal: AbortSignal) => Promise<void>
  /** We lead no more, though we did not ask to stop. The elector goes on as a candidate. */
  readonly onDeposed?: () => void
  /** Somebody (perhaps we) leads who did not before. */
  readonly onLeader?: (identity: string) => void
}

interface Observed {
  readonly lease: Lease
  /** When we saw this state first, by our own clock: other clocks are not to be trusted. */
  readonly atMs: number
}

/** Why a term is over: others may lead by now. */
export class LeadershipLostError extends DOMException {}

/**
 * Competes for a Lease, in the way of client-go, with which it can share one.
 *
 * Times in the Lease are for people. Whether a leader is alive is judged only by when its record last changed before
 * our eyes, so clocks of hosts may differ as they like. Writes carry the resource version, so of two that try at a
 * time one fails.
 */
export class LeaderElector implements AsyncDisposable {
  readonly #options: LeaderElectorOptions
  readonly #leaseDurationMs: number
  readonly #renewDeadlineMs: number
  readonly #retryPeriodMs: number
  readonly #stop = new AbortController()
  #observed: Observed | undefined
  #term: AbortController | undefined
  /** What the leader does, or did last. */
  #work: Promise<void> = Promise.resolve()
  /** When we sent the write that made the Lease ours last. */
  #renewedAtMs = Number.NEGATIVE_INFINITY
  #attemptedAtMs = Number.NEGATIVE_INFINITY
  /** Our copy of the Lease may not be the newest, so the next attempt begins by reading it. */
  #isStale = true
  #running: Promise<void> = Promise.resolve()

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#leaseDurationMs = options.leaseDurationMs ?? 30_000
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 20_000
    this.#retryPeriodMs = options.retryPeriodMs ?? 6_000
  }

  /**
   * Whether we lead. False as soon as nobody could blame another for leading, even if this process was stopped for a
   * while and has not noticed yet.
   */
  get isLeader(): boolean {
    return (
      this.#term !== undefined && this.#options.clock.monotonic() - this.#renewedAtMs < this.#leaseDurationMs
    )
  }

  /** Who leads, as far as we saw; `undefined` when nobody does. */
  get leader(): string | undefined {
    const holder = this.#observed?.lease.spec?.holderIdentity ?? ''
    return holder === '' ? undefined : holder
  }

  /** Starts to compete, until `signal` is aborted or the elector is disposed. To be called once. */
  start(signal?: AbortSignal): void {
    const stop = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal])
    this.#running = this.#run(stop)
  }

  /** Stops competing. A leader hands the Lease back, so that another need not wait for it to expire. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('Leader elector was disposed', 'AbortError'))
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options
    while (!signal.aborted) {
      const isOurs = await this.#attempt(signal)
      if (isOurs && !signal.aborted) this.#renewed()
      if (this.#isOver()) await this.#deposed()
      const waitMs =
        this.#term === undefined ? this.#retryPeriodMs * (1 + random() / 5) : this.#untilNextRenewal()
      await sleep(clock, waitMs, signal).catch(() => undefined)
    }
    if (this.#term === undefined) return
    this.#term.abort(signal.reason)
    this.#term = undefined
    await this.#work
    await this.#release()
  }

  /**
   * A leader retries until its deadline, and not later. The period is from start to start: with one that begins when a slow
   * answer has come, it would lose the Lease to an API server that serves all others.
   */
  #untilNextRenewal(): number {
    const nextMs = this.#attemptedAtMs + this.#retryPeriodMs
    return Math.max(0, Math.min(nextMs - this.#options.clock.monotonic(), this.#untilDeadline()))
  }

  #renewed(): void {
    if (this.#term !== undefined) return
    this.#term = new AbortController()
    this.#options.logger.info('leadership acquired', this.#fields())
    this.#work = this.#options.onElected(this.#term.signal)
  }

  #isOver(): boolean {
    if (this.#term === undefined) return false
    const isExpired = this.#options.clock.monotonic() - this.#renewedAtMs >= this.#renewDeadlineMs
    return isExpired || this.leader !== this.#options.identity
  }

  async #deposed(): Promise<void> {
    const term = this.#term
    this.#term = undefined
    this.#options.logger.warn('leadership lost', { ...this.#fields(), leader: this.leader })
    term?.abort(new LeadershipLostError('Leadership was lost', 'AbortError'))
    this.#options.onDeposed?.()
    await this.#work
  }

  /** Tries to acquire or renew. Answers whether the Lease is ours now. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, logger } = this.#options
    // An answer that comes after the deadline comes too late.
    const limit = new AbortController()
    const limitMs = this.#term === undefined ? this.#renewDeadlineMs : this.#untilDeadline()
    using _timer = clock.setTimer(limitMs, () =>
      limit.abort(new DOMException('Renewal took too long', 'TimeoutError')),
    )
    this.#attemptedAtMs = clock.monotonic()
    try {
      return await this.#acquireOrRenew(AbortSignal.any([signal, limit.signal]))
    } catch (error) {
      if (signal.aborted) return false
      // Another was faster; or nobody knows whether the write arrived.
      this.#isStale = true
      const isLost = error instanceof KubeConflictError || error instanceof KubeAlreadyExistsError
      if (!isLost) logger.warn('lease attempt failed', { ...this.#fields(), err: error })
      return false
    }
  }

  #untilDeadline(): number {
    return Math.max(0, this.#renewedAtMs + this.#renewDeadlineMs - this.#options.clock.monotonic())
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options
    if (this.#term !== undefined && !this.#isStale && (await this.#renewUnread(signal))) return true
    const lease = await client.get(leases, { namespace, name }, { signal })
    if (lease === undefined) {
      const first = { metadata: { namespace, name }, spec: this.#spec(undefined) }
      await this.#write(() => client.create(leases, first, { signal }))
      return true
    }
    this.#observe(lease)
    if (this.#isHeldByOther()) return false
    await this.#write(() => client.replace(leases, { ...lease, spec: this.#spec(lease) }, { signal }))
    return true
  }

  /** Makes the Lease ours. Others count from when the server has our write, which is after we sent it. */
  async #write(send: () => Promise<Lease>): Promise<void> {
    const sentAtMs = this.#options.clock.monotonic()
    this.#observe(await send())
    this.#renewedAtMs = sentAtMs
  }

  /** Renews what we wrote last without reading it; false when somebody has changed it since. */
  async #renewUnread(signal: AbortSignal): Promise<boolean> {
    const lease = this.#observed?.lease
    if (lease === undefined) return false
    try {
      await this.#write(() =>
        this.#options.client.replace(leases, { ...lease, spec: this.#spec(lease) }, { signal }),
      )
      return true
    } catch (error) {
      if (error instanceof KubeConflictError) return false
      throw error
    }
  }

  #isHeldByOther(): boolean {
    if (this.#observed === undefined || this.leader === undefined || this.leader === this.#options.identity)
      return false
    const { lease, atMs } = this.#observed
    const durationMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000
    return this.#options.clock.monotonic() - atMs < durationMs
  }

  #spec(old: Lease | undefined): NonNullable<Lease['spec']> {
    const { clock, identity } = this.#options
    const now = microTime(clock.now())
    const transitions = old?.spec?.leaseTransitions ?? 0
    const isRenewal = old?.spec?.holderIdentity === identity
    return {
      ...old?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDurationMs / 1000),
      acquireTime: isRenewal ? (old.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: old === undefined || isRenewal ? transitions : transitions + 1,
    }
  }

  #observe(lease: Lease): void {
    this.#isStale = false
    const before = this.leader
    // Not the resource version: somebody who only labels the Lease does not renew it.
    const isSame = JSON.stringify(lease.spec) === JSON.stringify(this.#observed?.lease.spec)
    const atMs =
      isSame && this.#observed !== undefined ? this.#observed.atMs : this.#options.clock.monotonic()
    this.#observed = { lease, atMs }
    const leader = this.leader
    if (leader !== undefined && leader !== before) this.#options.onLeader?.(leader)
  }

  /** Hands the Lease back as client-go does: no holder, and a duration of one second. */
  async #release(): Promise<void> {
    const { client, clock, logger } = this.#options
    const lease = this.#observed?.lease
    if (lease === undefined) return
    const now = microTime(clock.now())
    const spec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    }
    try {
      this.#observe(
        await client.replace(
          leases,
          { ...lease, spec },
          { signal: AbortSignal.timeout(this.#retryPeriodMs) },
        ),
      )
      logger.info('leadership released', this.#fields())
    } catch (error) {
      logger.warn('lease not released', { ...this.#fields(), err: error })
    }
  }

  #fields(): { readonly namespace: string; readonly name: string; readonly identity: string } {
    const { namespace, name, identity } = this.#options
    return { namespace, name, identity }
  }
}

/** Kubernetes' MicroTime. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
