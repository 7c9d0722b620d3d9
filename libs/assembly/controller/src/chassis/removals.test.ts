import { expect, it } from 'vitest'
import type { Doomed } from './desired.ts'
import { Newcomers } from './newcomers.ts'
import { Removals } from './removals.ts'

function gone(name: string, node = `${name}-node`): Doomed {
  const row = { name, hostname: node, external_ids: {}, other_config: {} }
  return { chassis: { _uuid: `uuid-${name}`, ...row }, node, why: 'node-gone' }
}

const untold = [{ node: 'b', chassis: undefined }]

it('lets a chassis go at once, and again after longer and longer', () => {
  const removals = new Removals()
  const waits: number[] = []
  let nowMs = 0
  for (let again = 0; again < 10; again++) {
    const { now, nextMs } = removals.due([gone('x')], nowMs)
    if (now.length === 0) waits.push(nextMs ?? 0)
    nowMs += nextMs ?? 0
    removals.done(removals.due([gone('x')], nowMs).now, nowMs)
  }
  expect(waits.map((ms) => ms / 1000)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300])
})

it('waits until a node that came has told its chassis, and for five minutes if it never does', () => {
  const newcomers = new Newcomers()
  const removals = new Removals()
  const at = (nowMs: number, nodes = untold) =>
    removals.due([gone('x')], nowMs, newcomers.untilMs(nodes, nowMs))
  expect(at(0)).toEqual({ now: [], nextMs: 300_000 })
  expect(at(100_000)).toEqual({ now: [], nextMs: 200_000 })
  // One that told is a newcomer again when it takes that back.
  expect(at(150_000, [])).toEqual({ now: [gone('x')], nextMs: undefined })
  expect(at(200_000)).toEqual({ now: [], nextMs: 100_000 })
  expect(at(300_000)).toEqual({ now: [gone('x')], nextMs: undefined })
})

it('waits no longer than for one node that came, however many come', () => {
  const newcomers = new Newcomers()
  const removals = new Removals()
  const left = Array.from({ length: 6 }, (_, minute) => {
    const nowMs = minute * 60_000
    const untilMs = newcomers.untilMs([{ node: `b${minute}`, chassis: undefined }], nowMs)
    return removals.due([gone('x')], nowMs, untilMs).nextMs
  })
  expect(left).toEqual([300_000, 240_000, 180_000, 120_000, 60_000, undefined])
})

it('remembers the last ten thousand chassis that went', () => {
  const removals = new Removals()
  const all = Array.from({ length: 10_001 }, (_, at) => gone(`c${at}`))
  removals.done(all.slice(0, 2), 0)
  removals.done([gone('c0')], 1)
  removals.done(all.slice(2), 2)
  expect([removals.nodes.size, removals.nodes.get('c0'), removals.nodes.get('c1')]).toEqual([
    10_000,
    'c0-node',
    undefined,
  ])
})
