import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyMergePatch, isEqualJson, mergePatch, type MergeFragment } from './merge-patch.ts'

/** Drops empty objects at every depth: the server makes no difference. */
function prune(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const kept = Object.entries(value).map(([name, child]) => [name, prune(child)] as const)
  return Object.fromEntries(kept.filter(([, child]) => !isEqualJson(child, {})))
}

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString')
const { fragment } = fc.letrec<{ fragment: MergeFragment; value: MergeFragment[string] }>((tie) => ({
  fragment: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 2, 'x', true),
    fc.constant(null),
    fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
    tie('fragment'),
  ),
}))

/** What the server can hold: the result of applying anything to nothing. */
const stored = fragment.map((any) => applyMergePatch({}, any))

describe('applyMergePatch', () => {
  // RFC 7386, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('makes of %s by %s: %s', (target, patch, result) => {
    expect(applyMergePatch(JSON.parse(target), JSON.parse(patch))).toEqual(JSON.parse(result))
  })

  it('takes every key for what it is, and undefined for nothing', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"a":1}}')
    expect(JSON.stringify(applyMergePatch({}, patch))).toBe('{"__proto__":{"a":1}}')
    expect(applyMergePatch({ a: 1 }, { a: undefined })).toEqual({ a: 1 })
  })
})

describe('mergePatch', () => {
  it('leads where the whole fragment would lead', () => {
    fc.assert(
      fc.property(stored, fragment, (current, desired) => {
        const patch = mergePatch(current, desired)
        const reached = patch === undefined ? current : applyMergePatch(current, patch)
        expect(prune(reached)).toEqual(prune(applyMergePatch(current, desired)))
      }),
    )
  })

  it('is undefined once it was applied', () => {
    fc.assert(
      fc.property(stored, fragment, (current, desired) => {
        const patch = mergePatch(current, desired)
        if (patch !== undefined) expect(mergePatch(applyMergePatch(current, patch), desired)).toBeUndefined()
      }),
    )
  })

  it('names nothing that is right already', () => {
    const current = {
      metadata: { labels: { a: '1', b: '2' }, annotations: { x: 'y' } },
      status: { ips: ['1', '2'] },
    }
    const desired = {
      metadata: { labels: { a: '1', b: '3', c: null }, annotations: { x: null } },
      status: { ips: ['1', '2'] },
    }
    expect(mergePatch(current, desired)).toEqual({
      metadata: { labels: { b: '3' }, annotations: { x: null } },
    })
  })

  it('does not make a map only to remove from it', () => {
    expect(mergePatch({ metadata: {} }, { metadata: { annotations: { x: null } } })).toBeUndefined()
    expect(mergePatch({ spec: {} }, { spec: { selector: {} } })).toEqual({ spec: { selector: {} } })
  })

  it('says nothing about keys whose value is undefined', () => {
    expect(mergePatch({ a: 1 }, { a: undefined, b: undefined })).toBeUndefined()
  })
})

describe('isEqualJson', () => {
  it.each([
    [5, 5n, true],
    [9007199254740993n, 9007199254740992n, false],
    [18446744073709551614n, 18446744073709552000n, true],
    [18446744073709551614n, 1.8446744073709552e19, true],
    [1.5, 1n, false],
    [[1, 2], [2, 1], false],
    [{ a: undefined }, {}, true],
    [{}, [], false],
    [null, {}, false],
  ])('compares %s and %s', (a, b, isEqual) => {
    expect(isEqualJson(a, b)).toBe(isEqual)
    expect(isEqualJson(b, a)).toBe(isEqual)
  })
})
