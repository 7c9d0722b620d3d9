import { configMaps, Informer, nodes } from '@kube-ovn/kube'
import type { ConfigMap, JsonValue, KubeObject, Resource } from '@kube-ovn/kube'
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

const subnets: Resource = {
  group: 'kubeovn.io',
  version: 'v1',
  kind: 'Subnet',
  plural: 'subnets',
  namespaced: false,
}

const name = { namespace: 'default', name: 'settings' }
const settings: ConfigMap = { metadata: name, data: { a: '1' } }

function patch(more: Partial<KubePatch>): KubePatch {
  return { resource: configMaps, ...name, ...more }
}

async function start(resource: Resource = configMaps, key = 'default/settings') {
  const stack = new AsyncDisposableStack()
  const client = stack.use(await api.openClient('kube-ovn-controller'))
  const watch = await api.openProxiedClient()
  const informer = stack.use(
    new Informer<KubeObject>({
      client: watch.client,
      resource,
      clock: systemClock,
      logger: silentLogger,
    }),
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
    /** From here on the store shows the past. */
    async stall() {
      watch.proxy.refuse(true)
      watch.proxy.cut()
      await expect.poll(() => informer.health.isWatching).toBe(false)
    },
    /** `basis` is what the key saw when it decided; what the store has when absent. */
    send: (patch: KubePatch, basis = informer.store.get(key)) =>
      sender.send('test/settings', 'test', [{ ...patch, basis }]),
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

const reference = (kind: string) => ({ apiVersion: 'v1', kind, name: 'settings', uid: kind })

it.each([
  ['finalizers', 'kubeovn.io/kube-ovn-controller', 'example.com/theirs'],
  ['ownerReferences', reference('Pod'), reference('Node')],
])('keeps what somebody added to %s while the watch stalls', async (list, ours, theirs) => {
  await using process = await start()
  const listing = (...elements: JsonValue[]) => ({ metadata: { [list]: elements } })
  const created = { ...settings, metadata: { ...name, ...listing(ours).metadata } }
  await process.send(patch({ create: created }))
  const seen = process.store.get('default/settings')
  await process.stall()
  await api.client.patch(configMaps, name, 'application/merge-patch+json', listing(ours, theirs))

  expect(await process.send(patch({ merge: listing() }))).toBe('again')
  expect(await api.client.get(configMaps, name)).toMatchObject(listing(ours, theirs))
  // The store knows by now. What was decided before is not even sent, what is decided anew goes through.
  await api.forgetWrites()
  expect(await process.send(patch({ merge: listing() }), seen)).toBe('again')
  expect(await process.writes()).toEqual([])
  expect(await process.send(patch({ merge: listing(theirs) }))).toBe('done')
  expect(await api.client.get(configMaps, name)).toMatchObject(listing(theirs))
})

it('keeps a condition that somebody added while the watch stalls', async () => {
  await using process = await start(nodes, 'n1')
  const condition = (type: string) => ({ type, status: 'True', reason: 'Told' })
  const listing = (...types: string[]) => ({ status: { conditions: types.map(condition) } })
  const tell = (...types: string[]): KubePatch => ({
    ...{ resource: nodes, name: 'n1', subresource: 'status' },
    merge: listing(...types),
  })
  await process.send({ resource: nodes, name: 'n1', create: { metadata: { name: 'n1' } } })
  await process.send(tell('Ours'))
  await process.stall()
  await api.client.patch(nodes, { name: 'n1' }, 'application/merge-patch+json', listing('Ours', 'Theirs'), {
    subresource: 'status',
  })

  expect(await process.send(tell('Ours', 'OursToo'))).toBe('again')
  expect(await api.client.get(nodes, { name: 'n1' })).toMatchObject(listing('Ours', 'Theirs'))
  expect(await process.send(tell('Ours', 'Theirs', 'OursToo'))).toBe('done')
  expect(await api.client.get(nodes, { name: 'n1' })).toMatchObject(listing('Ours', 'Theirs', 'OursToo'))
})

it.each<{ readonly what: string; readonly resource: Resource; readonly object: KubeObject }>([
  { what: 'ConfigMap', resource: configMaps, object: settings },
  { what: 'Node', resource: nodes, object: { metadata: { name: 'settings' } } },
  {
    what: 'custom resource',
    resource: subnets,
    object: { metadata: { name: 'settings' }, spec: { cidrBlock: '10.16.0.0/16' } } as KubeObject,
  },
])('writes nothing to a $what that took the place of another while the watch stalls', async (one) => {
  const { resource, object } = one
  const { namespace } = object.metadata
  const of = namespace === undefined ? { name: 'settings' } : { namespace, name: 'settings' }
  await using process = await start(resource, namespace === undefined ? 'settings' : 'default/settings')
  await process.send({ resource, ...of, create: object })
  await process.stall()
  const seen = process.store.get(namespace === undefined ? 'settings' : 'default/settings')
  await api.client.remove(resource, of)
  const made = await api.client.create(resource, object)
  const label: KubePatch = { resource, ...of, merge: { metadata: { labels: { about: 'former' } } } }
  expect(await process.send(label)).toBe('again')
  expect((await api.client.get(resource, of))?.metadata.labels?.['about']).toBeUndefined()
  // The store knows by now; what was decided about the former is not even sent.
  expect(process.store.get(namespace === undefined ? 'settings' : 'default/settings')?.metadata.uid).toBe(
    made.metadata.uid,
  )
  await api.forgetWrites()
  expect(await process.send(label, seen)).toBe('again')
  expect(await process.writes()).toEqual([])
  expect(await process.send(label)).toBe('done')
})

it('writes what is no list although the object changed meanwhile', async () => {
  await using process = await start()
  await process.send(patch({ create: settings }))
  await process.stall()
  await api.client.patch(configMaps, name, 'application/merge-patch+json', { data: { theirs: '1' } })
  expect(await process.send(patch({ merge: { data: { ours: '1' } } }))).toBe('done')
  expect(process.store.get('default/settings')).toMatchObject({ data: { a: '1', ours: '1', theirs: '1' } })
})
