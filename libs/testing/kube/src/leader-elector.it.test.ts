import { LeaderElector, leases, type KubeClient, type Lease } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
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

interface Candidate {
  readonly elector: LeaderElector
  readonly elected: Promise<AbortSignal>
  readonly deposed: Promise<void>
  readonly leaders: string[]
}

function compete(identity: string, client: KubeClient): Candidate {
  const elected = Promise.withResolvers<AbortSignal>()
  const deposed = Promise.withResolvers<void>()
  const leaders: string[] = []
  const elector = resources.use(
    new LeaderElector({
      ...ref,
      client,
      identity,
      clock: systemClock,
      logger: silentLogger,
      leaseDurationMs: 2000,
      renewDeadlineMs: 1200,
      retryPeriodMs: 200,
      onElected: elected.resolve,
      onDeposed: deposed.resolve,
      onLeader: (leader) => leaders.push(leader),
    }),
  )
  elector.start()
  return { elector, elected: elected.promise, deposed: deposed.promise, leaders }
}

function lease(): Promise<Lease | undefined> {
  return api.client.get(leases, ref)
}

it('elects one of two, and the other when the first is cut off', async () => {
  const { client, proxy } = await api.openProxiedClient()
  const first = compete('first', client)
  const term = await first.elected
  const second = compete('second', api.client)
  expect((await lease())?.spec).toMatchObject({
    holderIdentity: 'first',
    leaseTransitions: 0,
    leaseDurationSeconds: 2,
  })
  proxy.refuse(true)
  proxy.cut()
  const order = await Promise.all([
    first.deposed.then(() => ({ who: 'first', atMs: performance.now() })),
    second.elected.then(() => ({ who: 'second', atMs: performance.now() })),
  ])
  expect(order.toSorted((a, b) => a.atMs - b.atMs).map(({ who }) => who)).toEqual(['first', 'second'])
  expect(term.aborted).toBe(true)
  expect(first.elector.isLeader).toBe(false)
  expect(second.elector.isLeader).toBe(true)
  expect(second.leaders).toEqual(['first', 'second'])
  expect((await lease())?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

it('hands the lease over at once when the leader stops', async () => {
  const first = compete('first', api.client)
  const term = await first.elected
  const second = compete('second', api.client)
  await first.elector[Symbol.asyncDispose]()
  expect(term.aborted).toBe(true)
  await second.elected
  expect((await lease())?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

it('renews a lease that somebody has labelled, and keeps the time of acquisition', async () => {
  const only = compete('only', api.client)
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
