import { expect, it } from 'vitest'
import { TableInputs, type Dependent } from './inputs.ts'

function dependents(count: number): readonly Dependent[] {
  return Array.from({ length: count }, (_, index) => ({ node: 1, key: `reader-${index}`, inputs: [] }))
}

it.each([1, 2, 3, 8, 9, 50])(
  'knows each of %d who read it once, until the last one reads it no more',
  (count) => {
    const inputs = new TableInputs('pods')
    const input = inputs.found('node', 'n1')
    const readers = dependents(count)
    for (const one of [...readers, ...readers]) input.add(one)
    expect([...input.dependents()]).toEqual(readers)

    const left = [...readers]
    for (const index of readers.keys()) {
      const [gone] = left.splice(index % 2 === 0 ? 0 : -1, 1)
      expect(inputs.found('node', 'n1')).toBe(input)
      if (gone !== undefined) input.delete(gone)
      expect([...input.dependents()]).toEqual(left)
    }
    expect(inputs.found('node', 'n1')).not.toBe(input)
  },
)

it('is read by whoever reads it again', () => {
  const inputs = new TableInputs('pods')
  const input = inputs.row('web')
  const readers = dependents(3)
  for (const one of readers) input.add(one)
  for (const one of readers.slice(1)) input.delete(one)
  for (const one of readers) input.add(one)
  expect(new Set(input.dependents())).toEqual(new Set(readers))
})

it.each([
  [(inputs: TableInputs) => inputs.row('web'), 'pods[web]'],
  [(inputs: TableInputs) => inputs.found('node', 'n1'), 'pods by node[n1]'],
  [(inputs: TableInputs) => inputs.members('node', 'n1'), 'pods by node[n1]'],
  [(inputs: TableInputs) => inputs.presence('node', 'n1', true), 'pods by node[n1]'],
  [(inputs: TableInputs) => inputs.scan(), 'pods[]'],
])('has a name for people', (of, name) => {
  expect(String(of(new TableInputs('pods')))).toBe(name)
})
