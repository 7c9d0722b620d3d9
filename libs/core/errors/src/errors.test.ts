import { expect, it } from 'vitest'
import { KubeOvnError, problemText, refusalOf, shortened } from './index.ts'

class RefusedError extends KubeOvnError<{
  readonly field: string
  readonly value: string
  readonly holders: readonly string[]
  readonly count: number
}> {
  readonly code = 'refused'
  readonly retry = 'on-change'
}

const long = 'x'.repeat(262_144)

it('tells what is short as it is', () => {
  const details = { field: 'spec.ips', value: 'x'.repeat(600), holders: ['pod/shop/web'], count: 3 }
  expect(new RefusedError('refused', details).details).toBe(details)
})

it('tells the beginning of a long text, and its length', () => {
  expect(shortened(long)).toBe(`${'x'.repeat(200)}… (262144 characters)`)
  const { details } = new RefusedError('refused', {
    field: 'ips',
    value: long,
    holders: [long, 'a'],
    count: 3,
  })
  expect(details).toEqual({
    field: 'ips',
    value: shortened(long),
    holders: [shortened(long), 'a'],
    count: 3,
  })
})

it('puts what is wrong, with which values, and what to do into one line', () => {
  const details = { field: 'spec.ips', value: '', holders: ['a', 'b'], count: 2 }
  expect(problemText(new RefusedError('refused', details))).toBe(
    'refused (field=spec.ips holders=a+b count=2)',
  )
  expect(problemText(new RefusedError('refused', { ...details, cure: 'ask for less' } as never))).toBe(
    'refused (field=spec.ips holders=a+b count=2); ask for less',
  )
})

it('tells what an error refuses, and goes on with what is none of ours', () => {
  const details = { field: 'spec.ips', value: 'x', holders: [], count: 0, cure: 'write y' }
  expect(refusalOf(new RefusedError('refused', details as never))).toEqual({
    field: 'spec.ips',
    value: 'x',
    cure: 'write y',
  })
  const defect = new TypeError('defect')
  expect(() => refusalOf(defect)).toThrow(defect)
})
