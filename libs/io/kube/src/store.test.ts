import fc from 'fast-check'
import { expect, it } from 'vitest'
import { UnknownIndexError } from './errors.ts'
import { IndexedStore, objectKey } from './store.ts'
import type { KubeObject } from './types.ts'

function byLabels(object: KubeObject): readonly string[] {
  return Object.values(object.metadata.labels ?? {})
}

it('finds through an index exactly what a scan finds, whatever was put and deleted before', () => {
  const object = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    labels: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2', '3')),
  })
  const step = fc.oneof(object, fc.record({ gone: fc.constantFrom('a', 'b', 'c') }))
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const store = new IndexedStore({ byLabels })
      for (const one of steps) {
        if ('gone' in one) store.delete(`ns/${one.gone}`)
        else store.put(`ns/${one.name}`, { metadata: { namespace: 'ns', ...one } })
      }
      for (const value of ['1', '2', '3']) {
        const scanned = [...store.values()].filter((candidate) => byLabels(candidate).includes(value))
        expect(store.find('byLabels', value).map(objectKey).toSorted()).toEqual(
          scanned.map(objectKey).toSorted(),
        )
      }
    }),
  )
})

it('refuses an index that it was not given', () => {
  expect(() => new IndexedStore({ byLabels }).find('byNode', 'n1')).toThrow(UnknownIndexError)
})
