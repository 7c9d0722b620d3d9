import {
  EventRecorder,
  KubeClient,
  configMaps,
  events,
  loadKubeconfig,
  namespaces,
  type EventNote,
} from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { KubeApi } from './kube-api.ts'
import { sharedKubeApi } from './start-kube-api.ts'

let api: KubeApi

beforeAll(async () => {
  api = await sharedKubeApi()
})

beforeEach(() => api.reset())

const note: EventNote = {
  regarding: { resource: configMaps, namespace: 'default', name: 'a', uid: '7d1c' },
  type: 'Warning',
  reason: 'AddressExhausted',
  message: 'subnet has no free address',
}

it('sends the same event once, and its count half an hour later', async () => {
  const client = await api.openClient('kube-ovn-controller')
  const clock = new ManualClock()
  const logger = recordingLogger()
  await using recorder = new EventRecorder({
    client,
    clock,
    logger,
    component: 'kube-ovn-controller',
    instance: 'n1',
  })
  recorder.record(note)
  recorder.record(note)
  recorder.record({ ...note, reason: 'AddressAllocated', type: 'Normal' })
  await recorder.flushed()
  const { items } = await api.client.list(events, { namespace: 'default' })
  expect(items).toHaveLength(2)
  const first = items.find((event) => event.reason === 'AddressExhausted')
  expect(first).toMatchObject({
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a', uid: '7d1c' },
    type: 'Warning',
    message: 'subnet has no free address',
    source: { component: 'kube-ovn-controller', host: 'n1' },
    reportingComponent: 'kube-ovn-controller',
    firstTimestamp: '2026-01-01T00:00:00Z',
  })
  clock.advance(30 * 60_000)
  recorder.record(note)
  await recorder.flushed()
  const again = await api.client.get(events, { namespace: 'default', name: first?.metadata.name ?? '' })
  expect(again).toMatchObject({
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:30:00Z',
  })
  expect((await api.writes()).map((write) => write.verb)).toEqual(['create', 'create', 'patch'])
  expect(logger.lines).toEqual([])
})

it('makes an event anew that the server has forgotten', async () => {
  const clock = new ManualClock()
  const options = { client: api.client, clock, logger: recordingLogger(), component: 'c', instance: 'n1' }
  await using recorder = new EventRecorder(options)
  recorder.record(note)
  await recorder.flushed()
  await api.reset()
  clock.advance(60 * 60_000)
  recorder.record(note)
  await recorder.flushed()
  const { items } = await api.client.list(events, { namespace: 'default' })
  expect(items.map((event) => event.count)).toEqual([2])
})

it('gives up an event that the server refuses, and logs it', async () => {
  const logger = recordingLogger()
  const options = { client: api.client, clock: new ManualClock(), logger, component: 'c', instance: 'n1' }
  await using recorder = new EventRecorder(options)
  // More than a request may have.
  recorder.record({ ...note, reason: 'A'.repeat(4 * 1024 * 1024) })
  recorder.record(note)
  await recorder.flushed()
  expect(logger.lines).toMatchObject([
    { level: 'warn', message: 'event not sent', fields: { name: 'a', attempt: 1 } },
  ])
  expect((await api.client.list(events, { namespace: 'default' })).items).toHaveLength(1)
})

it('sends an event when its token is replaced that the server does not take any more', async () => {
  const access = await loadKubeconfig(api.kubeconfigPath)
  let isReplaced = false
  await using client = new KubeClient(
    {
      ...access,
      authenticate: async (renew) =>
        isReplaced ? await access.authenticate(renew) : { authorization: 'Bearer expired' },
    },
    { userAgent: 'test' },
  )
  const [clock, logger] = [new ManualClock(), recordingLogger()]
  await using recorder = new EventRecorder({ client, clock, logger, component: 'c', instance: 'n1' })
  recorder.record(note)
  await expect.poll(() => clock.pendingTimers).toBe(1)
  isReplaced = true
  clock.advance(60_000)
  await recorder.flushed()
  expect((await api.client.list(events, { namespace: 'default' })).items).toHaveLength(1)
  expect(logger.lines).toEqual([])
})

it.each(['ending', 'gone'])('does not complain of a namespace that is %s', async (namespace) => {
  const logger = recordingLogger()
  const options = { client: api.client, clock: new ManualClock(), logger, component: 'c', instance: 'n1' }
  // Nothing here ends what is in a namespace, so one that is deleted stays for as long as the test does.
  await api.client.create(namespaces, { metadata: { name: 'ending' } })
  await api.client.remove(namespaces, { name: 'ending' })
  await using recorder = new EventRecorder(options)
  recorder.record({ ...note, regarding: { ...note.regarding, namespace, uid: '8e2d' } })
  recorder.record(note)
  await recorder.flushed()
  expect(logger.lines).toMatchObject([
    { level: 'debug', message: 'event not sent, its namespace is ending', fields: { name: 'a' } },
  ])
  expect((await api.client.list(events, { namespace: 'default' })).items).toHaveLength(1)
})

it('knows after a restart what it has told, and goes on counting', async () => {
  const client = await api.openClient('kube-ovn-controller')
  const clock = new ManualClock()
  const logger = recordingLogger()
  const options = { client, clock, logger, component: 'kube-ovn-controller', instance: 'n1' }
  {
    await using first = new EventRecorder(options)
    first.record(note)
    await first.flushed()
  }
  await api.forgetWrites()
  await using second = new EventRecorder(options)
  await second.recall()
  second.record(note)
  await second.flushed()
  expect(await api.writes()).toEqual([])
  clock.advance(30 * 60_000)
  second.record(note)
  await second.flushed()
  expect((await api.writes()).map((write) => write.verb)).toEqual(['patch'])
  const { items } = await api.client.list(events, { namespace: 'default' })
  expect(items).toMatchObject([{ count: 3, firstTimestamp: '2026-01-01T00:00:00Z' }])
  expect(logger.lines).toEqual([])
})
