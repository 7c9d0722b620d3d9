import type { Subnet } from '@kube-ovn/kube-api'
import { namespace, subnet } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'
import { subnetsOfNamespace } from './namespace-bindings.ts'

const shop = namespace({ name: 'shop', labels: { team: 'red', tier: 'web' } })

function subnetsOfShop(subnets: readonly Subnet[]): readonly string[] {
  return subnetsOfNamespace('shop', stillWorld({ subnets, namespaces: [shop] }, {}))
}

function isSelected(selector: NonNullable<Parameters<typeof subnet>[0]>['namespaceSelectors']): boolean {
  return subnetsOfShop([subnet({ name: 'blue', namespaceSelectors: selector ?? [] })])[0] === 'blue'
}

describe('subnetsOfNamespace', () => {
  it('names the default subnet when none is bound', () => {
    expect(subnetsOfShop([subnet({ name: 'blue', namespaces: ['other'] })])).toEqual(['ovn-default'])
  })

  it('sorts what is bound by name or by label, without what is being deleted', () => {
    const subnets = [
      subnet({ name: 'c', namespaces: ['shop'] }),
      subnet({ name: 'a', namespaceSelectors: [{ matchLabels: { team: 'red' } }] }),
      subnet({ name: 'b', namespaces: ['shop'], deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ]
    expect(subnetsOfShop(subnets)).toEqual(['a', 'c'])
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
