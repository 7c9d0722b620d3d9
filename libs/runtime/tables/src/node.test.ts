import { expect, it } from 'vitest'
import { TableInputs, type Input } from './inputs.ts'
import { groupOf, link, unlink, WatchNode, type Group } from './node.ts'

function readersOf(...lists: readonly (readonly string[])[]) {
  const inputs = new TableInputs('namespaces')
  const row = (key: string): Input => inputs.row(key)
  const node = new WatchNode({ of: [], onConcerned: () => undefined }, 0)
  const groups = lists.map((list, index) => {
    const group = groupOf(node, `reader-${index}`)
    link(group, new Set(list.map(row)))
    return group
  })
  return { node, groups, row }
}

it('has one list for all who have read the same, in whatever order', () => {
  const { groups, row } = readersOf(['blue', 'red'], ['blue', 'red'], ['red', 'blue'])
  const [first, second, third] = groups
  expect(second?.inputs).toBe(first?.inputs)
  expect(third?.inputs).toBe(first?.inputs)
  expect([...row('blue').dependents()]).toEqual(groups)
})

it.each([
  ['less', ['blue']],
  ['nothing', []],
  ['something else', ['red']],
])('leaves to others what they have read when one of them has read %s', (_what, keys: readonly string[]) => {
  const { node, groups, row } = readersOf(['blue', 'red'], ['blue', 'red'])
  const [first, second] = groups
  const both = [row('blue'), row('red')]
  const list = keys.map(row)
  if (second !== undefined) link(second, new Set(list))
  expect(first?.inputs).toEqual(both)
  expect(second?.inputs).toEqual(list)

  for (const input of both)
    expect(new Set(input.dependents()).has(second as Group)).toBe(list.includes(input))
  unlink(node, 'reader-0')
  for (const input of both) expect([...input.dependents()]).toEqual(list.includes(input) ? [second] : [])
})
