import { IndexedStore, objectKey } from '@kube-ovn/kube'
import type { Endpoint, EndpointSlice } from '@kube-ovn/kube-api/core'
import { endpointSlice } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { keptBytes } from '../testing/cost.ts'
import { slicesOf, sliceWatch, type KeptSlice } from './slices.ts'

function keptAll(slices: readonly EndpointSlice[]): IndexedStore<KeptSlice> {
  const store = new IndexedStore<KeptSlice>(sliceWatch.indexes)
  for (const slice of slices) store.put(objectKey(slice), sliceWatch.trim(slice))
  return store
}

function endpointsKept(endpoints: EndpointSlice['endpoints']): readonly Endpoint[] {
  const slice = { ...endpointSlice({ name: 'web-1', namespace: 'shop', service: 'web' }), endpoints }
  const store = keptAll([slice])
  // Whoever plans a change may be given what is kept.
  for (const kept of store.values()) expect(sliceWatch.trim(kept)).toEqual(kept)
  return slicesOf('shop/web', store).flatMap((one) => one.endpoints ?? [])
}

const addresses = ['10.16.0.2']
const pod = { kind: 'Pod', name: 'web-0' }

it.each<{ is: string; of: Endpoint; kept: Endpoint }>([
  { is: 'an address', of: { addresses }, kept: { addresses } },
  {
    is: 'a Pod of the same namespace',
    of: { addresses, nodeName: 'n1', targetRef: { ...pod, namespace: 'shop', uid: '7' }, zone: 'z' },
    kept: { addresses, nodeName: 'n1', targetRef: pod },
  },
  {
    is: 'a Pod of another one',
    of: { addresses, targetRef: { ...pod, namespace: 'other' } },
    kept: { addresses, targetRef: { ...pod, namespace: 'other' } },
  },
  {
    is: 'of something else',
    of: { addresses, targetRef: { kind: 'Node', name: 'n1' } },
    kept: { addresses },
  },
  {
    is: 'ready',
    of: { addresses, conditions: { ready: true, serving: true, terminating: false } },
    kept: { addresses },
  },
  {
    is: 'on its way out',
    of: { addresses, conditions: { ready: false, serving: true, terminating: true } },
    kept: { addresses, conditions: { ready: false, serving: true, terminating: true } },
  },
  {
    is: 'hinted at',
    of: { addresses, hints: { forZones: [{ name: 'z' }] } },
    kept: { addresses, hints: { forZones: [{ name: 'z' }] } },
  },
])('an endpoint that is $is is kept as far as it decides anything', ({ of, kept }) => {
  expect(endpointsKept([of])).toEqual([kept])
})

it('a slice may be without endpoints', () => {
  expect(endpointsKept(null)).toEqual([])
  expect(endpointsKept([])).toEqual([])
})

it('a name is no endpoint, even if it reads like an address', () => {
  const names = ['10.16.0.2', 'web.example.com']
  const slice = endpointSlice({ namespace: 'shop', addressType: 'FQDN', endpoints: names })
  expect(slicesOf('shop/web', keptAll([slice]))).toMatchObject([{ endpoints: [] }])
})

it('an endpoint takes little more memory than what is to be known of it', () => {
  const endpoints = Array.from({ length: 10_000 }, (_, index) => ({
    addresses: [`10.16.${index >> 8}.${index & 255}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `worker-${index % 100}.example.com`,
    targetRef: { kind: 'Pod', namespace: 'shop', name: `web-7d4b9c6f5-${index}`, uid: `${index}` },
  }))
  const slices = Array.from({ length: 100 }, (_, index) => ({
    ...endpointSlice({ name: `web-${index}`, namespace: 'shop', service: 'web' }),
    endpoints: endpoints.slice(index * 100, index * 100 + 100),
  }))
  const text = JSON.stringify(slices)
  const most = 150 * endpoints.length
  expect(keptBytes(() => keptAll(JSON.parse(text) as readonly EndpointSlice[]), most)).toBeLessThan(most)
})
