import { MultiMap } from '@kube-ovn/collections'
import { expect, it, vi } from 'vitest'
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

it('knows every key that wants an entry, until the last one wants it no more', () => {
  const memory = new Memory()
  const entry = { of: blue, column: 'other_config', key: 'k', value: '1' }
  const claims = () => [...memory.claimsOn(placeOf(entry))]
  const want = (owner: string, isWanted: boolean) =>
    memory.remember(owner, { rows: [], members: isWanted ? [balancer, entry] : [balancer] }, [], true)
  for (const owner of ['f/a', 'f/b', 'f/c']) want(owner, true)
  expect(claims()).toEqual([
    ['f/a', '1'],
    ['f/b', '1'],
    ['f/c', '1'],
  ])
  want('f/a', false)
  want('f/c', false)
  expect(claims()).toEqual([['f/b', '1']])
  want('f/a', true)
  want('f/b', false)
  expect(claims()).toEqual([['f/a', '1']])
  want('f/b', false)
  want('f/a', false)
  expect(claims()).toEqual([])
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

it('changes nothing for a key that wants again what it wanted, however much that is', () => {
  const memory = new Memory()
  const wanted = () => ({
    rows: [row(kinds.lb, 'lb')],
    members: Array.from({ length: 100 }, (_, n): SetMember => ({ ...balancer, value: `10.0.0.${n}` })),
  })
  const references = [{ ref: blue, isOptional: false }]
  memory.remember('f/a', wanted(), references, true)
  const [add, remove] = [vi.spyOn(MultiMap.prototype, 'add'), vi.spyOn(MultiMap.prototype, 'delete')]
  expect(memory.remember('f/a', wanted(), references, true)).toEqual({ abandoned: [], freed: [] })
  const calls = add.mock.calls.length + remove.mock.calls.length
  add.mockRestore()
  remove.mockRestore()
  expect(calls).toBe(0)
  expect(memory.isContributed(placeOf({ ...balancer, value: '10.0.0.99' }))).toBe(true)
})

it('wants a row that somebody else had, once he lets it go, although it wants what it wanted', () => {
  const memory = new Memory()
  const wanted = { rows: [row(kinds.lb, 'lb')], members: [] }
  for (const owner of ['f/a', 'f/b']) memory.remember(owner, wanted, [], true)
  memory.remember('f/a', nothing, [], true)
  memory.remember('f/b', wanted, [], true)
  expect(memory.holderOf('lb/lb')).toBe('f/b')
})

it('reads a contribution once on its way through a plan', () => {
  const memory = new Memory()
  let reads = 0
  const counted = {
    ...blue,
    get id() {
      reads++
      return 'blue'
    },
  }
  memory.remember('f/a', { rows: [], members: [{ ...balancer, value: 'before' }] }, [], true)
  const desired = { rows: [], members: [{ ...balancer, of: counted }] }
  const batch = new Batch([['f/a', desired]])
  expect(memory.released('f/a', desired, batch)).toHaveLength(1)
  expect(memory.letsGo('f/a', desired)).toBe(true)
  memory.remember('f/a', desired, [], true)
  expect(reads).toBe(1)
})
