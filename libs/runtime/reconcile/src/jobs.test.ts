import { expect, it } from 'vitest'
import { nothing, type Allocated } from './feature.ts'
import { decide } from './jobs.ts'

/** A feature that takes the last ticket, and fails when it is told to. */
function scene(fails: 'never' | 'allocate' | 'desired') {
  const tickets = ['last']
  const feature = {
    observe: (key: string, world: { readonly names: readonly string[] }) =>
      world.names.includes(key) ? { key } : undefined,
    allocate: (_key: string, observed: { readonly key: string } | undefined): Allocated<string> => {
      if (fails === 'allocate') throw new Error('allocate')
      const ticket = observed && tickets.pop()
      return { snapshot: ticket, undo: () => void (ticket !== undefined && tickets.push(ticket)) }
    },
    desired: (_key: string, snapshot: string | undefined) => {
      if (fails === 'desired') throw new Error('desired')
      return { ...nothing, recheckMs: snapshot?.length ?? 0 }
    },
  }
  return { tickets, decide: (key: string) => decide(feature, key, { names: ['a'] }) }
}

it('decides by what was taken', () => {
  const { tickets, decide } = scene('never')
  expect([decide('a').desired.recheckMs, tickets]).toEqual([4, []])
})

it('takes nothing for what is gone', () => {
  const { tickets, decide } = scene('never')
  expect([decide('b'), tickets]).toEqual([
    { snapshot: undefined, desired: { ...nothing, recheckMs: 0 } },
    ['last'],
  ])
})

it.each(['allocate', 'desired'] as const)('gives back what was taken when %s fails', (step) => {
  const { tickets, decide } = scene(step)
  expect(() => decide('a')).toThrow(step)
  expect(tickets).toEqual(['last'])
})
