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

it('writes to no object any more once it is closed, but for what is under way', async () => {
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
  const closed = kernel[Symbol.asyncDispose]()
  answer.resolve()
  await closed
  expect(objects.writes).toEqual([
    'patch widgets a {"metadata":{"labels":{"a":"seen"}}}',
    'patch widgets b {"metadata":{"labels":{"b":"seen"}}}',
  ])
  expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([])
})
