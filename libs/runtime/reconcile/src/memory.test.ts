import { expect, it } from 'vitest'
import type { SetMember } from './feature.ts'
import { Batch, Memory } from './memory.ts'
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
  expect([...memory.contributorsOf('ls/blue', 'load_balancer', { kind: 'lb', id: 'lb' })]).toEqual(['f/b'])
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
