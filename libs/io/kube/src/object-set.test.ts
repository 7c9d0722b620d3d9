import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ObjectSet } from './object-set.ts'
import type { KubeObject, ObjectChange } from './types.ts'

interface Revision {
  readonly type: 'put' | 'drop'
  readonly object: KubeObject
}

/** A server's history: each step creates, changes or deletes one of three objects, at the next version. */
function historyOf(steps: readonly string[]): Revision[] {
  const present = new Map<string, string>()
  return steps.map((name, index) => {
    const version = index + 1
    const isDeletion = name.startsWith('-') && present.has(name.slice(1))
    const key = name.replace('-', '')
    const uid = present.get(key) ?? `${key}-${version}`
    if (isDeletion) present.delete(key)
    else present.set(key, uid)
    return {
      type: isDeletion ? 'drop' : 'put',
      object: { metadata: { name: key, uid, resourceVersion: String(version) } },
    }
  })
}

function stateOf(history: readonly Revision[]): Map<string, string | undefined> {
  const state = new Map<string, string | undefined>()
  for (const { type, object } of history) {
    if (type === 'put') state.set(object.metadata.name, object.metadata.resourceVersion)
    else state.delete(object.metadata.name)
  }
  return state
}

function held(set: ObjectSet<KubeObject>): Map<string, string | undefined> {
  return new Map([...set.store.values()].map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
}

const steps = fc.array(fc.constantFrom('a', 'b', 'c', '-a', '-b', '-c'), { minLength: 1, maxLength: 20 })

describe('ObjectSet', () => {
  it('ends equal to the server, whichever answers to writes overtook their events', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(19)), (names, overtaking) => {
        const history = historyOf(names)
        const set = new ObjectSet()
        history.forEach((revision, index) => {
          // Before this event comes, the answers to some later writes are there.
          for (const ahead of overtaking.filter((one) => one >= index && one < history.length)) {
            const { type, object } = history[ahead] ?? revision
            if (type === 'put') set.put(object)
            else set.forget(object.metadata.name, object.metadata.uid ?? '')
          }
          if (revision.type === 'put') set.put(revision.object)
          else set.drop(revision.object)
        })
        expect(held(set)).toEqual(stateOf(history))
      }),
    )
  })

  it('tells of each change once: replaying the changes yields the store', () => {
    fc.assert(
      fc.property(steps, fc.nat(19), (names, cut) => {
        const history = historyOf(names)
        const set = new ObjectSet()
        const seen = new Map<string, string | undefined>()
        function take(change: ObjectChange | undefined): void {
          if (change === undefined) return
          expect(seen.get(change.key)).toBe(change.old?.metadata.resourceVersion)
          expect(change.new?.metadata.resourceVersion).not.toBe(change.old?.metadata.resourceVersion)
          if (change.new === undefined) seen.delete(change.key)
          else seen.set(change.key, change.new.metadata.resourceVersion)
        }
        const before = history.slice(0, cut)
        for (const { type, object } of before) take(type === 'put' ? set.put(object) : set.drop(object))
        const state = stateOf(history)
        const list = history.filter(
          ({ object }) => state.get(object.metadata.name) === object.metadata.resourceVersion,
        )
        const objects = list.map(({ object }) => object)
        const options = { authoritative: false, initial: false }
        for (const change of set.swap(objects, String(history.length), options)) take(change)
        expect(seen).toEqual(held(set))
        expect(held(set)).toEqual(state)
        expect(set.swap(objects, String(history.length), options)).toEqual([])
      }),
    )
  })

  it('keeps what a write brought after the list was read', () => {
    const set = new ObjectSet()
    set.put({ metadata: { name: 'new', uid: '1', resourceVersion: '12' } })
    expect(set.swap([], '9', { authoritative: false, initial: false })).toEqual([])
    expect(held(set)).toEqual(new Map([['new', '12']]))
  })

  it('believes an authoritative list, whatever the versions', () => {
    const set = new ObjectSet()
    set.put({ metadata: { name: 'lost', uid: '1', resourceVersion: '120' } })
    set.put({ metadata: { name: 'older', uid: '2', resourceVersion: '121' } })
    const older = { metadata: { name: 'older', uid: '2', resourceVersion: '5' } }
    const changes = set.swap([older], '9', { authoritative: true, initial: false })
    expect(changes.map((change) => change.key).toSorted()).toEqual(['lost', 'older'])
    expect(held(set)).toEqual(new Map([['older', '5']]))
  })
})

it('takes an object from a list whose uid was trimmed away', () => {
  const set = new ObjectSet<KubeObject>()
  const object = { metadata: { name: 'a', resourceVersion: '5' } }
  const changes = set.swap([object], '5', { authoritative: false, initial: true })
  expect(changes).toMatchObject([{ key: 'a', new: object }])
  expect(set.store.get('a')).toBe(object)
})
