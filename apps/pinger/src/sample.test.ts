import { expect, it } from 'vitest'
import { sampleFor } from './sample.ts'

const names = Array.from({ length: 1000 }, (_, n) => `node-${n}`)
const options = { size: 50, nameOf: (name: string) => name }

it('has each of a thousand asked by exactly fifty, and nobody ask more', () => {
  const asked = new Map<string, number>()
  for (const own of names) {
    const sample = sampleFor(own, names, options)
    expect(new Set(sample).size).toBe(50)
    for (const name of sample) asked.set(name, (asked.get(name) ?? 0) + 1)
  }
  expect([...asked.values()].filter((count) => count === 50)).toHaveLength(1000)
})

it('changes what fifty ask, by one each, when somebody joins, in whatever order they are listed', () => {
  const joined = ['node-new', ...names.toReversed()]
  const changes = names.map((own) => {
    const before = new Set(sampleFor(own, names, options))
    return sampleFor(own, joined, options).filter((name) => !before.has(name)).length
  })
  expect(Math.max(...changes)).toBe(1)
  expect(changes.filter((count) => count === 1).length).toBeLessThanOrEqual(50)
})

it('asks all when they are few, or when it is told to', () => {
  expect(sampleFor('node-1', names.slice(0, 50), options)).toHaveLength(50)
  expect(sampleFor('node-1', names, { ...options, size: 0 })).toHaveLength(1000)
  expect(sampleFor('stranger', names, options)).toHaveLength(50)
  expect(sampleFor('node-1', [], options)).toEqual([])
})
