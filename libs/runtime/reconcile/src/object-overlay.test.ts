import { IndexedStore, type ConfigMap, type Resource } from '@kube-ovn/kube'
import { beforeEach, expect, it } from 'vitest'
import { ObjectOverlay } from './object-overlay.ts'
import { planWrite } from './patches.ts'

const resource: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}
const indexes = { color: ({ data }: ConfigMap) => [data?.['color'] ?? ''] }

function settings(name: string, color: string, finalizers: readonly string[] = []): ConfigMap {
  return { metadata: { name, namespace: 'shop', uid: name, finalizers: [...finalizers] }, data: { color } }
}

let store: IndexedStore<ConfigMap>
let overlay: ObjectOverlay
beforeEach(() => {
  store = new IndexedStore<ConfigMap>(indexes)
  for (const name of ['a', 'b']) store.put(`shop/${name}`, settings(name, 'red'))
  overlay = new ObjectOverlay({ store: () => store })
})

/** Names and colors as somebody sees them who reads the store through the overlay. */
function shown(): readonly string[] {
  const seen = overlay.store(resource, store, indexes)
  const all = [...seen.values()].map(({ metadata, data }) => `${metadata.name} ${data?.['color']}`)
  expect(seen.size).toBe(all.length)
  for (const line of all) {
    const [name, color = ''] = line.split(' ')
    expect(seen.get(`shop/${name}`)?.data?.['color']).toBe(color)
    expect(seen.find('color', color).map(({ metadata }) => metadata.name)).toContain(name)
  }
  return all.sort()
}

it('shows objects as they would be, and leaves the store as it is', () => {
  expect(shown()).toEqual(['a red', 'b red'])
  const change = overlay.put(resource, settings('a', 'blue'))
  expect([change.key, change.old?.metadata.name, change.initial]).toEqual(['shop/a', 'a', false])
  overlay.put(resource, { metadata: { name: 'c', namespace: 'shop' }, data: { color: 'red' } } as ConfigMap)
  expect(overlay.remove(resource, { namespace: 'shop', name: 'b' }).new).toBeUndefined()
  expect(shown()).toEqual(['a blue', 'c red'])
  expect(overlay.get(resource, { namespace: 'shop', name: 'c' })?.metadata.uid).toBe('planned')
  expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
})

it('keeps what is deleted until its last finalizer goes', () => {
  const name = { namespace: 'shop', name: 'a' }
  overlay.put(resource, settings('a', 'red', ['f']))
  expect(overlay.remove(resource, name).new?.metadata.deletionTimestamp).toBeDefined()
  expect(shown()).toEqual(['a red', 'b red'])
  overlay.write(resource, name, { verb: 'patch', patch: { metadata: { finalizers: null } } })
  expect(shown()).toEqual(['b red'])
})

it('carries out what the kernel would write', () => {
  const name = { namespace: 'shop', name: 'a' }
  overlay.write(resource, name, { verb: 'patch', patch: { data: { color: 'blue', shade: 'dark' } } })
  overlay.write(resource, name, { verb: 'patch', patch: { data: { shade: null } } })
  expect(overlay.get(resource, name)).toMatchObject({ data: { color: 'blue' } })
  overlay.write(resource, { namespace: 'shop', name: 'b' }, { verb: 'delete', uid: 'b', patch: undefined })
  overlay.write(resource, name, { verb: 'create', object: settings('d', 'green') })
  expect(shown()).toEqual(['a blue', 'd green'])
})

it.each(['a', 'e'])('carries out what the kernel would apply to %s, and plans it no second time', (name) => {
  const ref = { namespace: 'shop', name }
  const labels = { app: 'dns' }
  const patch = { resource, ...ref, apply: { metadata: { ...ref, labels }, data: { color: 'blue' } } }
  const write = planWrite(patch, overlay.get(resource, ref))
  if (write === undefined) throw new Error('nothing to apply')
  overlay.write(resource, ref, write)
  expect(overlay.get(resource, ref)).toMatchObject({ metadata: { labels }, data: { color: 'blue' } })
  expect(planWrite(patch, overlay.get(resource, ref))).toBeUndefined()
})
