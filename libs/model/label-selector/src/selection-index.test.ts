import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesLabels, type LabelSelector } from './label-selector.ts'
import { SelectionIndex } from './selection-index.ts'
import type { Selectable, Selection, Selector } from './selection.ts'

const label = fc.constantFrom('a', 'b', '__proto__')
const value = fc.constantFrom('', '1', '2')
const scope = fc.constantFrom(undefined, 'x', 'y')
const labels = fc.dictionary(label, value, { maxKeys: 3, noNullPrototype: true })
const requirement = fc.record({
  key: label,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Maybe'),
  values: fc.array(value, { maxLength: 2 }),
})
const selector: fc.Arbitrary<LabelSelector> = fc.record(
  { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 2 }) },
  { requiredKeys: [] },
)
const key = fc.constantFrom('k1', 'k2', 'k3', 'k4')
const step = fc.oneof(
  fc.record({ object: key, to: fc.option(fc.record({ scope, labels }), { nil: undefined }) }),
  fc.record({ selector: key, to: fc.option(fc.record({ scope, selector }), { nil: undefined }) }),
)

function shown(selection: Selection): string {
  const pairs = [...selection.selectedObjects()].map((key) => [key, [...selection.selectorsOf(key)].sort()])
  return JSON.stringify(pairs.sort())
}

describe('SelectionIndex', () => {
  it('has exactly the pairs that match, both ways, and tells exactly what changed, in forks too', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(40), (steps, forkAt) => {
        let index: Selection = new SelectionIndex()
        let evidence = ''
        let base = index
        const objects = new Map<string, Selectable>()
        const selectors = new Map<string, Selector>()
        const pairs = () =>
          [...selectors].flatMap(([name, { scope, selector }]) =>
            [...objects]
              .filter(([, one]) => scope === undefined || one.scope === scope)
              .filter(([, one]) => matchesLabels(selector, one.labels))
              .map(([object]) => `${name} ${object}`),
          )
        for (const [count, one] of steps.entries()) {
          if (count === forkAt) {
            base = index
            evidence = shown(base)
            index = base.fork()
          }
          const before = new Set(pairs())
          let told: { joined: string[]; left: string[] }
          if ('object' in one) {
            if (one.to === undefined) objects.delete(one.object)
            else objects.set(one.object, one.to)
            const { joined, left } = index.setObject(one.object, one.to)
            const pair = (name: string) => `${name} ${one.object}`
            told = { joined: joined.map(pair), left: left.map(pair) }
          } else {
            if (one.to === undefined) selectors.delete(one.selector)
            else selectors.set(one.selector, one.to)
            const { joined, left } = index.setSelector(one.selector, one.to)
            const pair = (name: string) => `${one.selector} ${name}`
            told = { joined: joined.map(pair), left: left.map(pair) }
          }
          const after = new Set(pairs())
          expect(told.joined.sort()).toEqual([...after.difference(before)].sort())
          expect(told.left.sort()).toEqual([...before.difference(after)].sort())
          const forward = [...selectors.keys()].flatMap((s) =>
            [...index.objectsOf(s)].map((o) => `${s} ${o}`),
          )
          const backward = [...objects.keys()].flatMap((o) =>
            [...index.selectorsOf(o)].map((s) => `${s} ${o}`),
          )
          expect(new Set(forward)).toEqual(after)
          expect(new Set(backward)).toEqual(after)
          expect(forward.length).toBe(backward.length)
          expect([...index.selectedObjects()].sort()).toEqual(
            [...objects.keys()].filter((name) => index.selectorsOf(name).size > 0).sort(),
          )
        }
        if (base !== index) expect(shown(base)).toBe(evidence)
      }),
      { numRuns: 500 },
    )
  })

  it('looks at no selector that names another label', () => {
    const index = new SelectionIndex()
    let looks = 0
    const watched = (team: string): LabelSelector => ({
      get matchLabels() {
        looks++
        return { team }
      },
    })
    for (let count = 0; count < 1000; count++)
      index.setSelector(`s${count}`, { selector: watched(`t${count}`) })
    looks = 0
    expect(index.setObject('pod', { labels: { app: 'web', team: 't7' } }).joined).toEqual(['s7'])
    expect(looks).toBe(1)
  })

  it('looks at objects with a label alone when a selector is the first, or the last, that names it', () => {
    const index = new SelectionIndex()
    let looks = 0
    const labelled = (labels: Readonly<Record<string, string>>): Selectable => ({
      get labels() {
        looks++
        return labels
      },
    })
    for (let count = 0; count < 10_000; count++)
      index.setObject(`o${count}`, labelled(count < 10 ? { app: 'a', tier: `${count}` } : { app: 'a' }))
    for (const selector of [
      { matchLabels: { nobody: 'x' } },
      { matchExpressions: [{ key: 'nobody', operator: 'Exists' }] },
      { matchLabels: { tier: '3' } },
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    ]) {
      looks = 0
      index.setSelector('s', { selector })
      const hasTier = JSON.stringify(selector).includes('tier')
      expect(looks).toBeLessThanOrEqual(hasTier ? 40 : 0)
      index.setSelector('s', undefined)
      expect(looks).toBeLessThanOrEqual(hasTier ? 80 : 0)
    }
  })

  it.each([
    ['an index', () => new SelectionIndex()],
    ['a fork', () => new SelectionIndex().fork()],
  ])('changes nothing for what can not be compared: %s', (_name, make) => {
    const index = make()
    index.setObject('o', { labels: { app: 'a' } })
    index.setSelector('s', { selector: { matchLabels: { app: 'a' } } })
    const before = shown(index)
    for (const matchExpressions of [[null], [{ key: 'app', operator: 'In', values: null }], 7]) {
      const selector = { matchExpressions } as unknown as LabelSelector
      expect(() => index.setSelector('s', { selector })).toThrow(TypeError)
    }
    expect(() => index.setObject('o', { labels: null as never })).toThrow(TypeError)
    expect(shown(index)).toBe(before)
  })
})
