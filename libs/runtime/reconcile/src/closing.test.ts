import type { Resource } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { nothing, type Feature } from './feature.ts'
import { Kernel } from './kernel.ts'
import { LocalObjects } from './local-objects.ts'
import { schema } from './plan-fixture.ts'
import { SimulatedServer } from './testing/simulated-server.ts'

const widgets: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
}

/** Writes to two objects for each key: its own, and one that all keys share. */
const labels: Feature<string, true, object> = {
  name: 'labels',
  kinds: [],
  triggers: [{ on: 'object', resource: widgets, keys: ({ key }) => (key === 'shared' ? [] : [key]) }],
  observe: () => true,
  desired: (name) => ({
    ...nothing,
    patches: [name, 'shared'].map((target) => ({
      resource: widgets,
      name: target,
      merge: { metadata: { labels: { [name]: 'seen' } } },
    })),
  }),
}

const seen = (name: string, by: string): string =>
  `patch widgets ${name} {"metadata":{"labels":{"${by}":"seen"}}}`

it.each([
  // Who comes after it decides the rest anew.
  ['yields', true, [seen('a', 'a'), seen('b', 'b')]],
  // What has no record when the rows of it are there would be taken for left over.
  ['is closed', false, expect.arrayContaining(['a', 'b', 'c', 'd'].map((name) => seen(name, name)))],
])('writes to objects, when it %s, no more than others may rely on', async (_what, yields, writes) => {
  const objects = new LocalObjects([widgets])
  for (const name of ['a', 'b', 'c', 'd', 'shared'])
    objects.put(widgets, name, { metadata: { name, uid: name } })
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  objects.onWrite = () => {
    if (objects.writes.length === 2) begun.resolve()
    return answer.promise
  }
  const logger = recordingLogger()
  const kernel = new Kernel<object>({
    features: [labels],
    world: {},
    forkWorld: () => ({}),
    database: new SimulatedServer().open({ onTransact: () => 'fine', onCommitted: () => 'fine' }),
    schema,
    objects,
    clock: new ManualClock(),
    logger,
    metrics: kernelMetrics(new Registry()),
    patchConcurrency: 2,
  })
  kernel.start()
  await begun.promise
  if (yields) kernel.yield()
  const closed = kernel[Symbol.asyncDispose]()
  answer.resolve()
  await closed
  expect(objects.writes).toEqual(writes)
  expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([])
})
