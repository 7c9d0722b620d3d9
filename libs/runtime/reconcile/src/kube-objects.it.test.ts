import { configMaps, Informer, type ConfigMap, type KubeObject } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { KubePatch } from './feature.ts'
import { kubeObjects } from './kube-objects.ts'
import { PatchSender } from './patches.ts'

let api: KubeApi
beforeAll(async () => {
  api = await sharedKubeApi()
})
beforeEach(() => api.reset())

const name = { namespace: 'default', name: 'settings' }
const settings: ConfigMap = { metadata: name, data: { a: '1' } }

function patch(more: Partial<KubePatch>): KubePatch {
  return { resource: configMaps, ...name, ...more }
}

async function start() {
  const stack = new AsyncDisposableStack()
  const client = stack.use(await api.openClient('kube-ovn-controller'))
  const informer = stack.use(
    new Informer<KubeObject>({ client, resource: configMaps, clock: systemClock, logger: silentLogger }),
  )
  informer.start()
  await informer.synced
  const objects = kubeObjects({ client, informers: [informer], record: () => undefined })
  const sender = new PatchSender({
    objects,
    metrics: kernelMetrics(new Registry()),
    clock: systemClock,
    concurrency: 4,
  })
  return {
    store: informer.store,
    send: (...patches: KubePatch[]) => sender.send('test/settings', 'test', patches),
    writes: async () => (await api.writes()).map(({ verb, resource }) => `${verb} ${resource}`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

it('knows at once what it wrote, and writes nothing twice', async () => {
  await using process = await start()
  const wanted = patch({ create: settings, merge: { data: { a: '1' } } })
  expect(await process.send(wanted)).toBe('done')
  expect(process.store.get('default/settings')).toMatchObject({ data: { a: '1' } })
  await process.send(wanted)
  await process.send(patch({ merge: { data: { a: null, b: '2' } } }))
  expect(process.store.get('default/settings')).toMatchObject({ data: { b: '2' } })
  await process.send(patch({ merge: { data: { a: null, b: '2' } } }))
  expect(await process.writes()).toEqual(['create configmaps', 'patch configmaps'])
})

it('takes finalizers off and deletes in one go', async () => {
  await using process = await start()
  const metadata = { ...name, finalizers: ['kubeovn.io/kube-ovn-controller'] }
  await process.send(patch({ create: { ...settings, metadata } }))
  await process.send(patch({ remove: true, merge: { metadata: { finalizers: null } } }))
  expect(process.store.get('default/settings')).toBeUndefined()
  expect(await api.client.get(configMaps, name)).toBeUndefined()
  await process.send(patch({ remove: true }))
  expect(await process.writes()).toEqual(['create configmaps', 'patch configmaps', 'delete configmaps'])
})

it('does not mind that a patched object is gone', async () => {
  await using process = await start()
  await process.send(patch({ create: settings }))
  // Removed behind the informer's back, which may or may not know by now: both are fine.
  await api.client.remove(configMaps, name)
  expect(await process.send(patch({ merge: { data: { a: '2' } } }))).toBe('done')
  expect(await api.client.get(configMaps, name)).toBeUndefined()
})
