import { KubeInvalidError, KubeNotFoundError, type KubeObject } from '@kube-ovn/kube'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { describe, expect, it } from 'vitest'
import { TrimmedFieldError } from './errors.ts'
import type { KubePatch } from './feature.ts'
import { LocalObjects } from './local-objects.ts'
import { joinPatches, PatchSender, planWrite } from './patches.ts'

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
const pod: KubeObject = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', finalizers: ['a', 'b'], labels: { x: '1' } },
}

/** Made after the first was deleted. */
const another: KubeObject = { metadata: { name: 'web', namespace: 'shop', uid: 'u2' } }

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

describe('PatchSender', () => {
  function start(concurrency = 4) {
    const objects = new LocalObjects([pods])
    objects.put(pods, 'shop/web', pod)
    const metrics = kernelMetrics(new Registry())
    return { objects, sender: new PatchSender({ objects, metrics, clock: new ManualClock(), concurrency }) }
  }
  const on = (given: KubePatch, basis: KubeObject | undefined = pod) => ({ ...given, basis })
  const label = (name: string, value = '1') =>
    on(patch({ merge: { metadata: { labels: { [name]: value } } } }))

  it('writes an object once for a key that has several patches for it', async () => {
    const { objects, sender } = start()
    await sender.send('f/a', 'f', [label('a'), label('b')])
    expect(objects.writes).toEqual(['patch pods shop/web {"metadata":{"labels":{"a":"1","b":"1"}}}'])
  })

  it.each([1, 4])(
    'writes an object once for all keys that are about to, %d at a time',
    async (concurrency) => {
      const { objects, sender } = start(concurrency)
      const status = on(patch({ subresource: 'status', merge: { status: { phase: 'x' } } }))
      const outcomes = [
        sender.send('f/a', 'f', [label('a')]),
        sender.send('f/b', 'f', [label('b'), status]),
        sender.send('g/c', 'g', [label('c')]),
      ]
      expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'done'])
      expect(objects.writes.sort()).toEqual([
        'patch pods shop/web {"metadata":{"labels":{"a":"1","b":"1","c":"1"}}}',
        'patch pods/status shop/web {"status":{"phase":"x"}}',
      ])
    },
  )

  it('lets nobody suffer from what the server does not take of another key', async () => {
    const { objects, sender } = start()
    objects.onWrite = (line) => {
      if (!line.includes('bad')) return
      const details = { method: 'PATCH', path: '', status: 422, reason: 'Invalid', answer: '', causes: [] }
      throw new KubeInvalidError('invalid', { ...details, hasName: true })
    }
    const good = sender.send('f/a', 'f', [label('a')])
    const bad = sender.send('f/b', 'f', [label('b', 'bad')])
    expect(await good).toBe('done')
    await expect(bad).rejects.toThrow(KubeInvalidError)
    expect(objects.store(pods)?.get('shop/web')?.metadata.labels).toEqual({ x: '1', a: '1' })
  })

  it.each<[string, KubePatch, string]>([
    [
      'a field',
      patch({ merge: { metadata: { labels: { x: '2' } }, spec: { a: 1, b: { c: 2 } } } }),
      'spec.b.c',
    ],
    ['a status', patch({ subresource: 'status', merge: { status: { phase: 'x' } } }), 'status.phase'],
    [
      'what is applied',
      patch({ apply: { metadata: { name: 'web', namespace: 'shop' } } }),
      'metadata.managedFields',
    ],
  ])('sends nothing when %s would be trimmed away', async (_title, given, field) => {
    const { objects, sender } = start()
    objects.trim = (_resource, object) => {
      const { metadata, spec } = object as KubeObject & { spec?: { a?: unknown } }
      const { managedFields: _fields, ...kept } = metadata
      return { metadata: kept, ...(spec === undefined ? {} : { spec: { a: spec.a, b: {} } }) }
    }
    const sent = sender.send('f/a', 'f', [on(given)])
    await expect(sent).rejects.toThrow(TrimmedFieldError)
    await expect(sent).rejects.toMatchObject({
      retry: 'never',
      details: { owner: 'f/a', resource: 'pods.', field },
    })
    expect(objects.writes).toEqual([])
  })

  it('keeps what is applied apart from what is patched, and does not lose it to a missing namespace', async () => {
    const { objects, sender } = start()
    const applied = on(patch({ apply: { metadata: { name: 'web', namespace: 'shop', labels: { y: '1' } } } }))
    await Promise.all([sender.send('f/a', 'f', [applied]), sender.send('f/b', 'f', [label('b')])])
    expect(objects.writes.map((line) => line.split(' ')[0])).toEqual(['apply', 'patch'])
    expect(objects.store(pods)?.get('shop/web')?.metadata.labels).toEqual({ x: '1', y: '1', b: '1' })

    objects.put(pods, 'shop/web', undefined)
    objects.onWrite = () => {
      const details = { method: 'PATCH', path: '', status: 404, reason: 'NotFound', answer: '', causes: [] }
      throw new KubeNotFoundError('namespaces "shop" not found', { ...details, hasName: true })
    }
    await expect(sender.send('f/a', 'f', [applied])).rejects.toThrow(KubeNotFoundError)
  })

  describe('when the API server answers slowly', () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve))

    /** A server that answers as it is told, the oldest request first. */
    function startSlow(concurrency: number) {
      const { objects, sender } = start(concurrency)
      const answers: (() => void)[] = []
      objects.onWrite = () => new Promise<void>((resolve) => answers.push(resolve))
      async function answer(count: number): Promise<void> {
        for (let n = 0; n < count; n++) {
          await turn()
          answers.shift()?.()
        }
        await turn()
      }
      return { objects, sender, answer }
    }
    function send(sender: PatchSender, feature: string, name: string): Promise<unknown> {
      const create = { metadata: { name, namespace: 'shop' } }
      return sender.send(`${feature}/${name}`, feature, [on(patch({ name, create }), undefined)])
    }

    it('lets features take turns, so that one subnet does not wait for all pods', async () => {
      const { objects, sender, answer } = startSlow(1)
      const sent = ['p1', 'p2', 'p3', 'p4'].map((name) => send(sender, 'pod', name))
      sent.push(send(sender, 'subnet', 's1'))
      await answer(5)
      await Promise.all(sent)
      const names = objects.writes.map((line) => /shop\/(\w+)/.exec(line)?.[1])
      expect(names).toEqual(['p1', 'p2', 's1', 'p3', 'p4'])
    })

    it('asks less than a batch of keys to gather until sixteen answers came, and a batch only when ten thousand wait', async () => {
      const { sender, answer } = startSlow(32)
      const names = Array.from({ length: 10_000 }, (_one, n) => `p${n}`)
      const some = names.slice(0, 9_999).map((name) => send(sender, 'pod', name))
      expect([sender.busyForMs(false), sender.busyForMs(true)]).toEqual([1_000, 0])
      some.push(send(sender, 'pod', 'last'))
      expect(sender.busyForMs(true)).toBe(1_000)
      await answer(1)
      expect([sender.busyForMs(false), sender.busyForMs(true)]).toEqual([1_000, 0])
      await answer(15)
      expect(sender.busyForMs(false)).toBe(0)
      sender.startRound()
      expect(sender.busyForMs(false)).toBe(1_000)
      await answer(names.length)
      await Promise.all(some)
      expect(sender.busyForMs(false)).toBe(0)
    })
  })

  it('writes nothing to an object that has taken the place of the one that its key saw', async () => {
    const { objects, sender } = start(1)
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    objects.put(pods, 'shop/other', { metadata: { name: 'other', namespace: 'shop', uid: 'u0' } })
    objects.onWrite = () => {
      begun.resolve()
      return answer.promise
    }
    const busy = sender.send('f/other', 'f', [
      { ...patch({ name: 'other', merge: { metadata: { labels: { b: '1' } } } }), basis: undefined },
    ])
    await begun.promise
    const late = sender.send('f/a', 'f', [label('a')])
    const beside = sender.send('f/b', 'f', [
      on(patch({ merge: { metadata: { labels: { c: '1' } } } }), another),
    ])
    objects.put(pods, 'shop/web', another)
    answer.resolve()
    expect(await Promise.all([busy, late, beside])).toEqual(['done', 'again', 'done'])
    expect(objects.store(pods)?.get('shop/web')?.metadata.labels).toEqual({ c: '1' })
  })

  it('waits for a write to the same object, and sees what became of it', async () => {
    const { objects, sender } = start()
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    objects.onWrite = () => {
      begun.resolve()
      return answer.promise
    }
    const first = sender.send('f/a', 'f', [label('a')])
    await begun.promise
    const second = sender.send('f/b', 'f', [label('a')])
    answer.resolve()
    expect(await Promise.all([first, second])).toEqual(['done', 'done'])
    expect(objects.writes).toHaveLength(1)
  })
})
