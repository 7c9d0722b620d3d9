import { expect, it } from 'vitest'
import { KubeOvnError, shortened } from './index.ts'

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
