import { MultiMap } from '@kube-ovn/collections'
import { afterEach, expect, it, vi } from 'vitest'
import { TableInputs } from './inputs.ts'
import { StoredRows } from './rows.ts'

interface Row {
  readonly values: readonly string[]
}

afterEach(() => void vi.restoreAllMocks())

const many = Array.from({ length: 500 }, (_, n) => `policy-${n}`)

it('files a row anew under those values alone that it did not have, or has no more', () => {
  const rows = new StoredRows({ values: (row) => (row as Row).values })
  rows.put('pod', { values: many })
  const [add, remove] = [vi.spyOn(MultiMap.prototype, 'add'), vi.spyOn(MultiMap.prototype, 'delete')]
  rows.put('pod', { values: [...many.slice(1), 'another'] })
  expect(add.mock.calls).toEqual([['another', 'pod']])
  expect(remove.mock.calls).toEqual([['policy-0', 'pod']])
  expect([...rows.keysOf('values', 'another'), ...rows.keysOf('values', 'policy-1')]).toEqual(['pod', 'pod'])
  expect([...rows.keysOf('values', 'policy-0')]).toEqual([])
})

/** Values of which it is counted how often one is looked at. */
class Counted extends Array<string> {
  looks = 0;

  override *[Symbol.iterator](): ArrayIterator<string> {
    for (const value of super[Symbol.iterator]()) {
      this.looks++
      yield value
    }
  }

  override includes(value: string): boolean {
    this.looks += this.indexOf(value) === -1 ? this.length : this.indexOf(value) + 1
    return super.includes(value)
  }
}

it('looks at each value of an index once when a row changes, and at none of an index that nobody has asked', () => {
  const inputs = new TableInputs('uses')
  const [before, after] = [Counted.from(many) as Counted, Counted.from(many.slice(1)) as Counted]
  const change = () => [...inputs.changedBy('pod', [{ index: 'peer', before, after }], () => false, true)]
  expect(change()).toEqual([])
  expect(before.looks + after.looks).toBe(0)
  const input = inputs.members('peer', 'policy-0')
  expect(change()).toEqual([input])
  expect(before.looks + after.looks).toBeLessThanOrEqual(2 * many.length)
})
