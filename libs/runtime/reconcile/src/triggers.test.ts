import { nodes, pods, type ObjectChange } from '@kube-ovn/kube'
import { recordingLogger, silentLogger } from '@kube-ovn/log'
import { expect, it } from 'vitest'
import { nothing, type Feature, type Key, type Trigger } from './feature.ts'
import { Triggers } from './triggers.ts'

function feature(name: string, ...triggers: Trigger<Key, undefined>[]): Feature<Key, unknown, undefined> {
  return { name, kinds: [], triggers, observe: () => undefined, desired: () => nothing }
}

function onPod(keys: (change: ObjectChange) => Iterable<Key>): Trigger<Key, undefined> {
  return { on: 'object', resource: pods, keys }
}

const change: ObjectChange = {
  key: 'shop/web',
  old: undefined,
  new: { metadata: { namespace: 'shop', name: 'web' } },
  initial: false,
}

it('asks every trigger that is about a change, in the order of the features, and no other', () => {
  const triggers = new Triggers(
    [
      feature(
        'port',
        onPod(({ key }) => [key]),
        onPod(() => ['other']),
        { on: 'row', table: 'Logical_Switch', keys: ({ uuid }) => [uuid] },
      ),
      feature('node', { on: 'object', resource: nodes, keys: () => ['n1'] }),
      feature(
        'address',
        { on: 'signal', signal: 'freed', keys: (subject) => [subject] },
        onPod(() => ['a']),
      ),
    ],
    silentLogger,
  )
  expect(triggers.ofObject(pods, change, undefined)).toEqual(['port/shop/web', 'port/other', 'address/a'])
  expect(triggers.ofObject(nodes, change, undefined)).toEqual(['node/n1'])
  const row = { table: 'Logical_Switch', uuid: 'u1', old: undefined, new: undefined }
  expect(triggers.ofRow(row, undefined)).toEqual(['port/u1'])
  expect(triggers.ofRow({ ...row, table: 'ACL' }, undefined)).toEqual([])
  expect(triggers.ofSignal('freed', 's1', undefined)).toEqual(['address/s1'])
})

it('leaves out a feature whose trigger fails, whatever its others say, and says so', () => {
  const logger = recordingLogger()
  const failing = feature(
    'port',
    onPod(() => ['first']),
    onPod(() => {
      throw new TypeError('no spec')
    }),
  )
  const triggers = new Triggers(
    [
      failing,
      feature(
        'node',
        onPod(() => ['n1']),
      ),
    ],
    logger,
  )
  expect(triggers.ofObject(pods, change, undefined)).toEqual(['node/n1'])
  expect(logger.lines).toMatchObject([{ message: 'trigger failed', fields: { feature: 'port' } }])
})
