import { LeaderElector, leases, type KubeClient, type Lease } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { ManualClock, type Clock } from '@kube-ovn/time'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { KubeApi } from './kube-api.ts'
import { sharedKubeApi } from './start-kube-api.ts'
import { systemClock } from '@kube-ovn/process'

let api: KubeApi
let resources: AsyncDisposableStack

beforeAll(async () => {
  api = await sharedKubeApi()
})

beforeEach(async () => {
  await api.reset()
  resources = new AsyncDisposableStack()
})

afterEach(() => resources.disposeAsync())

const ref = { namespace: 'kube-system', name: 'kube-ovn-controller' }

/** The machine's clock, which can be put forward, so that no test depends on how long a request takes. */
function adjustableClock(): Clock & { putForward(ms: number): void } {
  let aheadMs = 0
  return {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + aheadMs,
    putForward(ms) {
      aheadMs += ms
    },
  }
}

interface Candidate {
  readonly elector: LeaderElector
  readonly elected: Promise<AbortSignal>
  readonly deposed: Promise<void>
  readonly leaders: string[]
}

const leaseDurationMs = 15_000
const renewDeadlineMs = 10_000
const retryPeriodMs = 200

interface CandidateOptions {
  readonly client?: KubeClient
  readonly clock?: Clock
  readonly work?: () => Promise<void>
}

function compete(identity: string, options: CandidateOptions = {}): Candidate {
  const { client = api.client, clock = systemClock, work = () => Promise.resolve() } = options
  const elected = Promise.withResolvers<AbortSignal>()
  const deposed = Promise.withResolvers<void>()
  const leaders: string[] = []
  const elector = resources.use(
    new LeaderElector({
      ...ref,
      client,
      identity,
      clock,
      logger: silentLogger,
      leaseDurationMs,
      renewDeadlineMs,
      retryPeriodMs,
      onElected(signal) {
        elected.resolve(signal)
        return work()
      },
      onDeposed: deposed.resolve,
      onLeader: (leader) => leaders.push(leader),
    }),
  )
  elector.start()
  return { elector, elected: elected.promise, deposed: deposed.promise, leaders }
}

/** The client, whose requests are sent when so much time has passed by the clock, unless they are given up until then. */
function slowClient(options: { clock: ManualClock; requestMs: number; onAnswer: () => void }): KubeClient {
  async function slowly(
    request: (...args: unknown[]) => Promise<unknown>,
    args: unknown[],
  ): Promise<unknown> {
    options.clock.advance(options.requestMs)
    const last = args.at(-1) as { readonly signal?: AbortSignal }
    last.signal?.throwIfAborted()
    const answer = await request(...args)
    options.onAnswer()
    return answer
  }
  const requests = {
    get: (...args: unknown[]) => slowly(api.client.get.bind(api.client) as never, args),
    create: (...args: unknown[]) => slowly(api.client.create.bind(api.client) as never, args),
    replace: (...args: unknown[]) => slowly(api.client.replace.bind(api.client) as never, args),
  }
  return requests as unknown as KubeClient
}

function lease(): Promise<Lease | undefined> {
  return api.client.get(leases, ref)
}

async function holder(): Promise<string | undefined> {
  return (await lease())?.spec?.holderIdentity
}

it('elects one of two, and the other when the first is cut off', async () => {
  const clock = adjustableClock()
  const { client, proxy } = await api.openProxiedClient()
  const first = compete('first', { client, clock })
  const term = await first.elected
  expect((await lease())?.spec).toMatchObject({
    holderIdentity: 'first',
    leaseTransitions: 0,
    leaseDurationSeconds: 15,
  })
  proxy.refuse(true)
  proxy.cut()
  const second = compete('second', { clock })
  const order: string[] = []
  void first.deposed.then(() => order.push('first deposed'))
  void second.elected.then(() => order.push('second elected'))
  await expect.poll(() => second.leaders).toEqual(['first'])
  clock.putForward(renewDeadlineMs)
  await first.deposed
  expect(term.aborted).toBe(true)
  expect(first.elector.isLeader).toBe(false)
  clock.putForward(leaseDurationMs - renewDeadlineMs)
  await second.elected
  expect(order).toEqual(['first deposed', 'second elected'])
  expect(second.elector.isLeader).toBe(true)
  expect(second.leaders).toEqual(['first', 'second'])
  expect((await lease())?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

it('hands the lease over at once when the leader stops', async () => {
  const first = compete('first')
  const term = await first.elected
  const second = compete('second')
  await first.elector[Symbol.asyncDispose]()
  expect(term.aborted).toBe(true)
  expect(['', 'second']).toContain(await holder())
  await second.elected
  expect((await lease())?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

it('hands the lease back only when the leader has ended its work', async () => {
  const work = Promise.withResolvers<void>()
  const first = compete('first', { work: () => work.promise })
  const term = await first.elected
  const stopped = first.elector[Symbol.asyncDispose]()
  // Each read takes about as long as handing the lease back.
  for (let reads = 0; reads < 20; reads += 1) expect(await holder()).toBe('first')
  expect(term.aborted).toBe(true)
  work.resolve()
  await stopped
  expect(await holder()).toBe('')
})

it('competes again only when the work of a term that it lost has ended', async () => {
  const clock = new ManualClock()
  const work = Promise.withResolvers<void>()
  let terms = 0
  const first = compete('first', {
    clock,
    work() {
      terms += 1
      return work.promise
    },
  })
  await first.elected
  const taken = { spec: { holderIdentity: 'other', leaseDurationSeconds: 1 } }
  await api.client.patch(leases, ref, 'application/merge-patch+json', taken)
  clock.advance(retryPeriodMs)
  await first.deposed
  await setImmediate()
  expect(clock.pendingTimers).toBe(0)
  work.resolve()
  await setImmediate()
  expect(clock.pendingTimers).toBe(1)
  clock.advance(2000)
  await expect.poll(() => terms).toBe(2)
})

it('keeps the lease while each request takes nearly half of the time that it has', async () => {
  const clock = new ManualClock()
  let answered = 0
  const slow = { clock, requestMs: renewDeadlineMs * 0.45, onAnswer: () => (answered += 1) }
  const only = compete('only', { clock, client: slowClient(slow) })
  const term = await only.elected
  const wanted = answered + 5
  const renewed = () => {
    // Until the elector sleeps, the next timer is the limit of what it has asked.
    if ((clock.nextTimerMs ?? Infinity) <= retryPeriodMs) clock.advance(retryPeriodMs)
    return term.aborted || answered >= wanted
  }
  await expect.poll(renewed).toBe(true)
  expect(term.aborted).toBe(false)
  expect(only.elector.isLeader).toBe(true)
})

it('renews a lease that somebody has labelled, and keeps the time of acquisition', async () => {
  const only = compete('only')
  const term = await only.elected
  const acquired = (await lease())?.spec
  const label = { metadata: { labels: { seen: 'yes' } } }
  const labelled = await api.client.patch(leases, ref, 'application/merge-patch+json', label)
  const renewed = Promise.withResolvers<Lease>()
  const events = await api.client.watchStream(leases, {
    namespace: ref.namespace,
    fieldSelector: `metadata.name=${ref.name}`,
    resourceVersion: labelled.metadata.resourceVersion,
  })
  for await (const event of events) {
    if (event.type === 'MODIFIED') {
      renewed.resolve(event.object)
      break
    }
  }
  const { metadata, spec } = await renewed.promise
  expect(metadata.labels).toEqual({ seen: 'yes' })
  expect(spec?.acquireTime).toBe(acquired?.acquireTime)
  expect(spec?.leaseTransitions).toBe(0)
  expect(term.aborted).toBe(false)
})
