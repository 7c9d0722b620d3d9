import { ipResource } from '@kube-ovn/kube-api'
import { IndexedStore, objectKey, type KubeClient, type KubeObject, type ObjectChange } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import type { AnyInformer } from '@kube-ovn/reconcile'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { DefinitionDeletion } from './definition-deletion.ts'

it('reads the definition after each deletion, once for all that come while it is being read', async () => {
  const store = new IndexedStore<KubeObject>()
  const listeners: ((change: ObjectChange) => void)[] = []
  const informer: AnyInformer = {
    resource: ipResource,
    store,
    onChange(listener) {
      listeners.push(listener)
      return { [Symbol.dispose]: () => undefined }
    },
    trimmed: (object) => object,
    observe: () => undefined,
    observeRemoval: () => undefined,
  }
  const answers: (() => void)[] = []
  const client: Pick<KubeClient, 'get'> = {
    get: <T>() =>
      new Promise<T | undefined>((resolve) => {
        answers.push(() => resolve({ metadata: { name: 'ips' } } as T))
      }),
  }
  using deletion = new DefinitionDeletion({
    client,
    clock: new ManualClock(),
    log: silentLogger,
    record: () => undefined,
  })
  const shown: string[] = []
  using _ = deletion.informer(informer).onChange(({ key }) => void shown.push(key))
  const remove = (name: string): void => {
    const object = { metadata: { name, uid: name, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    store.put(objectKey(object), object)
    for (const listener of listeners) listener({ key: name, old: undefined, new: object, initial: false })
  }
  const view = deletion.view(ipResource, store)
  const isShown = (name: string): boolean => view.get(name)?.metadata.deletionTimestamp !== undefined

  remove('first')
  for (let number = 0; number < 1_000; number++) remove(`ip${number}`)
  expect(answers).toHaveLength(1)
  answers[0]?.()
  await expect.poll(() => answers.length).toBe(2)
  expect(isShown('first')).toBe(true)
  expect(isShown('ip0')).toBe(false)
  answers[1]?.()
  await deletion.settled()
  expect(shown.filter((key) => key === 'ip999')).toHaveLength(2)
  expect(isShown('ip999')).toBe(true)

  remove('last')
  expect(isShown('last')).toBe(false)
  answers[2]?.()
  await deletion.settled()
  expect(isShown('last')).toBe(true)
  expect(answers).toHaveLength(3)
})
