import { describe, expect, it } from 'vitest'
import type { Condition } from './conditions.ts'
import {
  isConditionTrue,
  setCondition,
  setMetaCondition,
  withObservedGeneration,
  withStandardConditions,
} from './conditions.ts'

const t0 = Date.parse('2026-01-02T03:04:05.678Z')
const t1 = t0 + 60_000
const [time0, time1] = ['2026-01-02T03:04:05Z', '2026-01-02T03:05:05Z']

const ready: Condition = {
  type: 'Ready',
  status: 'False',
  reason: 'Init',
  message: 'waiting',
  observedGeneration: 3,
  lastUpdateTime: time0,
  lastTransitionTime: time0,
}

describe('setCondition', () => {
  it('appends a condition that is not there, with both times in whole seconds', () => {
    expect(setCondition([ready], { type: 'Error', status: 'True', reason: 'Broken' }, t0)).toEqual([
      ready,
      { type: 'Error', status: 'True', reason: 'Broken', lastUpdateTime: time0, lastTransitionTime: time0 },
    ])
  })

  it('returns the very same list when nothing changes', () => {
    const list = [ready]
    expect(
      setCondition(list, { type: 'Ready', status: 'False', reason: 'Init', message: 'waiting' }, t1),
    ).toBe(list)
  })

  it('reads an absent message as an empty one', () => {
    const list = [{ type: 'Ready', status: 'True', reason: 'Done' }]
    expect(setCondition(list, { type: 'Ready', status: 'True', reason: 'Done', message: '' }, t1)).toBe(list)
  })

  it('moves only the update time when the status stays', () => {
    expect(
      setCondition([ready], { type: 'Ready', status: 'False', reason: 'Busy', message: 'busy' }, t1),
    ).toEqual([{ ...ready, reason: 'Busy', message: 'busy', lastUpdateTime: time1 }])
  })

  it('moves both times when the status changes and drops the old message', () => {
    expect(setCondition([ready], { type: 'Ready', status: 'True', reason: 'Done' }, t1)).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: 'Done',
        observedGeneration: 3,
        lastUpdateTime: time1,
        lastTransitionTime: time1,
      },
    ])
  })

  it('takes a new observed generation for a change', () => {
    const change = {
      type: 'Ready',
      status: 'False',
      reason: 'Init',
      message: 'waiting',
      observedGeneration: 4,
    } as const
    expect(setCondition([ready], change, t1)).toEqual([
      { ...ready, observedGeneration: 4, lastUpdateTime: time1 },
    ])
  })
})

describe('setMetaCondition', () => {
  const { lastUpdateTime: _lastUpdateTime, ...meta } = ready

  it('has no time of the last update, and leaves conditions of others as they are', () => {
    const theirs = { type: 'Error', status: 'True', lastUpdateTime: time0 } as const
    const change = { type: 'Ready', status: 'True', reason: 'Done' } as const
    expect(setMetaCondition([theirs, meta], { ...change, message: '' }, t1)).toEqual([
      theirs,
      { ...meta, ...change, message: '', lastTransitionTime: time1 },
    ])
  })

  it('returns the very same list when nothing changes', () => {
    const list = [meta]
    const same = { type: 'Ready', status: 'False', reason: 'Init', message: 'waiting' } as const
    expect(setMetaCondition(list, same, t1)).toBe(list)
  })
})

describe('withStandardConditions', () => {
  it('adds what is absent as unknown and leaves the rest', () => {
    expect(withStandardConditions([ready], ['Ready', 'Error'], t1)).toEqual([
      ready,
      {
        type: 'Error',
        status: 'Unknown',
        reason: 'Init',
        message: 'Not Observed',
        lastUpdateTime: time1,
        lastTransitionTime: time1,
      },
    ])
  })

  it('returns the very same list when all are there', () => {
    const list = [ready]
    expect(withStandardConditions(list, ['Ready'], t1)).toBe(list)
  })
})

describe('withObservedGeneration', () => {
  const theirs: Condition = { type: 'Audited', status: 'True', observedGeneration: 1 }

  it('says of each condition of ours which generation it is about, and leaves those of others', () => {
    const list = [ready, { type: 'Error', status: 'False' }, theirs]
    expect(withObservedGeneration(list, 4, t1)).toEqual([
      { ...ready, observedGeneration: 4, lastUpdateTime: time1 },
      { type: 'Error', status: 'False', observedGeneration: 4, lastUpdateTime: time1 },
      theirs,
    ])
  })

  it.each([3, undefined])(
    'returns the very same list when it says %s already, or nothing is known',
    (generation) => {
      const list = [ready, theirs]
      expect(withObservedGeneration(list, generation, t1)).toBe(list)
    },
  )
})

it('holds a condition true only when it is there and says so', () => {
  expect(isConditionTrue(undefined, 'Ready')).toBe(false)
  expect(isConditionTrue([ready], 'Ready')).toBe(false)
  expect(isConditionTrue([{ ...ready, status: 'True' }], 'Ready')).toBe(true)
})
