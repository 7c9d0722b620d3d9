import { expect, it } from 'vitest'
import type { SetMember } from './feature.ts'
import { Batch, Memory } from './memory.ts'
import { placeOf } from './places.ts'
import { kinds, row } from './plan-fixture.ts'

const blue = { kind: 'ls', id: 'blue' }
const balancer: SetMember = { of: blue, column: 'load_balancer', value: { kind: 'lb', id: 'lb' } }
const nothing = { rows: [], members: [] }

it('releases a value when the last key that contributes it stops', () => {
  const memory = new Memory()
  const desired = { rows: [], members: [balancer] }
  for (const owner of ['f/a', 'f/b']) memory.remember(owner, desired, [], true)
  expect(memory.released('f/a', nothing)).toEqual([])
  memory.remember('f/a', nothing, [], true)
  expect(memory.released('f/b', nothing)).toEqual([balancer])
  expect([...memory.contributorsOf(placeOf(balancer))]).toEqual(['f/b'])
})

it('releases a value that several keys let go at a time, unless one of them keeps it', () => {
  const memory = new Memory()
  const desired = { rows: [], members: [balancer] }
  for (const owner of ['f/a', 'f/b']) memory.remember(owner, desired, [], true)
  const both = new Batch([
    ['f/a', nothing],
    ['f/b', nothing],
  ])
  expect(memory.released('f/a', nothing, both)).toEqual([balancer])
  const one = new Batch([
    ['f/a', nothing],
    ['f/b', desired],
  ])
  expect(memory.released('f/a', nothing, one)).toEqual([])
})

it('does not release a value that another key takes over', () => {
  const memory = new Memory()
  const desired = { rows: [], members: [balancer] }
  memory.remember('f/a', desired, [], true)
  const batch = new Batch([
    ['f/a', nothing],
    ['f/b', desired],
  ])
  expect(memory.released('f/a', nothing, batch)).toEqual([])
})

it('remembers a value until its removal is committed', () => {
  const memory = new Memory()
  memory.remember('f/a', { rows: [], members: [balancer] }, [], true)
  memory.remember('f/a', nothing, [], false)
  expect(memory.released('f/a', nothing)).toEqual([balancer])
  memory.remember('f/a', nothing, [], true)
  expect(memory.released('f/a', nothing)).toEqual([])
  expect([...memory.owners()]).toEqual([])
})

it('remembers an entry as it was until the change of it is committed', () => {
  const memory = new Memory()
  const entry = (value: string) => ({ of: blue, column: 'other_config', key: 'k', value })
  memory.remember('f/a', { rows: [], members: [entry('1')] }, [], true)
  for (const value of ['2', '2', '3'])
    memory.remember('f/a', { rows: [], members: [entry(value)] }, [], false)
  expect(memory.released('f/a', nothing)).toEqual([entry('3'), entry('2'), entry('1')])
  expect([...memory.claimsOn(placeOf(entry('1')))]).toEqual([['f/a', '3']])
  memory.remember('f/a', { rows: [], members: [entry('3')] }, [], true)
  expect(memory.released('f/a', nothing)).toEqual([entry('3')])
})

it('frees who waits for an entry when its holder changes it or lets it go, and only as long as they wait', () => {
  const memory = new Memory()
  const entry = (value: string) => ({ of: blue, column: 'other_config', key: 'k', value })
  const want = (owner: string, ...values: string[]) =>
    memory.remember(owner, { rows: [], members: values.map(entry) }, [], true).freed
  want('f/a', '1')
  for (const owner of ['f/b', 'f/c']) memory.awaitEntries(owner, [placeOf(entry('2'))])
  expect(want('f/a', '1')).toEqual([])
  expect(want('f/a', '2')).toEqual(['f/b', 'f/c'])
  want('f/b')
  expect(want('f/a')).toEqual(['f/c'])
})

it('does not remember the rows of the key itself as contributions: they carry its mark', () => {
  const memory = new Memory()
  memory.remember('f/a', { rows: [row(kinds.lb, 'lb')], members: [balancer] }, [], true)
  expect(memory.released('f/a', nothing)).toEqual([])
})

it('knows who wants a row, and who refers to it', () => {
  const memory = new Memory()
  memory.remember(
    'f/a',
    { rows: [row(kinds.lb, 'lb')], members: [] },
    [{ ref: blue, isOptional: false }],
    true,
  )
  expect(memory.holderOf('lb/lb')).toBe('f/a')
  memory.remember('f/b', { rows: [row(kinds.lb, 'lb')], members: [] }, [], false)
  expect(memory.holderOf('lb/lb')).toBe('f/a')
  expect([...memory.referrersOf('ls/blue')]).toEqual(['f/a'])
  memory.remember('f/a', nothing, [], true)
  expect(memory.holderOf('lb/lb')).toBeUndefined()
  expect([...memory.referrersOf('ls/blue')]).toEqual([])
})
