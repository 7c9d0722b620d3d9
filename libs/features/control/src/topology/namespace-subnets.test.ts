import { namespace, subnet } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { hasOtherBinding, hasOtherLabels, subnetsOfNamespace } from './namespace-subnets.ts'

const shop = namespace({ name: 'shop', labels: { team: 'red', tier: 'web' } })

function isSelected(selector: NonNullable<Parameters<typeof subnet>[0]>['namespaceSelectors']): boolean {
  return (
    subnetsOfNamespace(shop, [subnet({ name: 'blue', namespaceSelectors: selector ?? [] })], 'none')[0] ===
    'blue'
  )
}

describe('subnetsOfNamespace', () => {
  it('names the default subnet when none is bound', () => {
    expect(
      subnetsOfNamespace(shop, [subnet({ name: 'blue', namespaces: ['other'] })], 'ovn-default'),
    ).toEqual(['ovn-default'])
  })

  it('sorts what is bound by name or by label, without what is being deleted', () => {
    const subnets = [
      subnet({ name: 'c', namespaces: ['shop'] }),
      subnet({ name: 'a', namespaceSelectors: [{ matchLabels: { team: 'red' } }] }),
      subnet({ name: 'b', namespaces: ['shop'], deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ]
    expect(subnetsOfNamespace(shop, subnets, 'ovn-default')).toEqual(['a', 'c'])
  })

  it.each([
    [{}, true],
    [{ matchLabels: { team: 'red', tier: 'web' } }, true],
    [{ matchLabels: { team: 'red', tier: 'db' } }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['blue', 'red'] }] }, true],
    [{ matchExpressions: [{ key: 'stage', operator: 'In', values: ['red'] }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['red'] }] }, false],
    [{ matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['red'] }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'Maybe' }] }, false],
    [{ matchLabels: { team: 'red' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  ])('reads the selector %j', (selector, isBound) => expect(isSelected([selector])).toBe(isBound))
})

it('sees a binding change with its names, its selectors and its end, and not with addresses', () => {
  const before = subnet({ name: 'blue', namespaces: ['shop'] })
  const change = (after: typeof before | undefined) => ({
    key: 'blue',
    old: before,
    new: after,
    initial: false,
  })
  expect(hasOtherBinding(change({ ...before, spec: { ...before.spec, gateway: '10.1.0.9' } }))).toBe(false)
  expect(hasOtherBinding(change(subnet({ name: 'blue', namespaces: [] })))).toBe(true)
  expect(
    hasOtherBinding(change(subnet({ name: 'blue', namespaces: ['shop'], deletionTimestamp: 'now' }))),
  ).toBe(true)
  expect(hasOtherBinding(change(undefined))).toBe(true)
})

it('sees labels change, and not annotations', () => {
  const change = (after: typeof shop) => ({ key: 'shop', old: shop, new: after, initial: false })
  expect(
    hasOtherLabels(
      change(namespace({ name: 'shop', labels: { tier: 'web', team: 'red' }, annotations: { a: 'b' } })),
    ),
  ).toBe(false)
  expect(hasOtherLabels(change(namespace({ name: 'shop', labels: { team: 'blue' } })))).toBe(true)
  expect(hasOtherLabels({ key: 'shop', old: undefined, new: shop, initial: false })).toBe(true)
})
