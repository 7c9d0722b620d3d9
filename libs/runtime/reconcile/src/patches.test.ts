import type { KubeObject } from '@kube-ovn/kube'
import { describe, expect, it } from 'vitest'
import type { KubePatch } from './feature.ts'
import { joinPatches, planWrite } from './patches.ts'

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
const pod: KubeObject = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', finalizers: ['a', 'b'], labels: { x: '1' } },
}

function patch(more: Partial<KubePatch>): KubePatch {
  return { resource: pods, namespace: 'shop', name: 'web', ...more }
}

describe('planWrite', () => {
  const withoutFinalizer = { metadata: { finalizers: ['a'] } }
  const deleted: KubeObject = { metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  it.each<[string, KubePatch, KubeObject | undefined, unknown]>([
    ['creates a missing object', patch({ create: pod }), undefined, { verb: 'create', object: pod }],
    ['does not mind that a patched object is missing', patch({ merge: { a: 1 } }), undefined, undefined],
    ['does not create what should be gone', patch({ create: pod, remove: true }), undefined, undefined],
    [
      'sends what differs',
      patch({ merge: { metadata: { labels: { x: '1', y: '2' } } } }),
      pod,
      {
        verb: 'patch',
        patch: { metadata: { labels: { y: '2' } } },
      },
    ],
    [
      'sends nothing when nothing differs',
      patch({ create: pod, merge: { metadata: { labels: { x: '1' } } } }),
      pod,
      undefined,
    ],
    [
      'deletes this very object',
      patch({ remove: true }),
      pod,
      { verb: 'delete', uid: 'u1', patch: undefined },
    ],
    [
      'takes finalizers off first',
      patch({ remove: true, merge: withoutFinalizer }),
      pod,
      {
        verb: 'delete',
        uid: 'u1',
        patch: withoutFinalizer,
      },
    ],
    [
      'only takes finalizers off what is being deleted',
      patch({ remove: true, merge: withoutFinalizer }),
      deleted,
      {
        verb: 'patch',
        patch: withoutFinalizer,
      },
    ],
    ['leaves alone what is being deleted', patch({ remove: true }), deleted, undefined],
  ])('%s', (_name, given, current, want) => expect(planWrite(given, current)).toEqual(want))
})

describe('joinPatches', () => {
  it('joins patches of one object, and keeps its status apart', () => {
    const status = patch({ subresource: 'status', merge: { status: { ready: true } } })
    const joined = joinPatches([
      patch({ merge: { metadata: { labels: { a: '1', b: '1' } } } }),
      status,
      patch({ merge: { metadata: { labels: { b: null }, annotations: { c: '3' } } } }),
      patch({ name: 'other', merge: {} }),
    ])
    expect(joined).toEqual([
      patch({ merge: { metadata: { labels: { a: '1', b: null }, annotations: { c: '3' } } } }),
      status,
      patch({ name: 'other', merge: {} }),
    ])
  })
})
