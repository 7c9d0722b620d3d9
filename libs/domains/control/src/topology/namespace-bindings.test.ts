import type { Subnet, Vpc } from '@kube-ovn/kube-api'
import { namespace, subnet, vpc } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'
import { namespacesElsewhere, subnetsOfNamespace } from './namespace-bindings.ts'

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

describe('a namespace of a VPC', () => {
  const red = vpc({ name: 'red', namespaces: ['shop', 'kube-system'] })
  const ofRed = subnet({ name: 'red1', vpc: 'red', namespaces: ['shop'] })
  const other = subnet({ name: 'blue', namespaces: ['shop', 'free'] })
  const world = (vpcs: readonly Vpc[], ...subnets: readonly Subnet[]) =>
    stillWorld(
      { subnets, vpcs, namespaces: [shop, namespace({ name: 'kube-system' }), namespace({ name: 'free' })] },
      {},
    )

  it('is served by subnets of the VPC alone', () => {
    expect(subnetsOfNamespace('shop', world([red], other, ofRed))).toEqual(['red1'])
    expect(subnetsOfNamespace('shop', world([], other, ofRed))).toEqual(['blue'])
    expect(subnetsOfNamespace('free', world([red], other, ofRed))).toEqual(['blue'])
    expect(namespacesElsewhere('blue', world([red], other, ofRed))).toEqual(['shop'])
    expect(namespacesElsewhere('red1', world([red], other, ofRed))).toEqual([])
    expect(namespacesElsewhere('red1', world([], other, ofRed))).toEqual(['shop'])
  })

  it('is served by a subnet in the VPC that this is in, whatever its specification was edited to', () => {
    const published = { vpc: 'red', provider: 'ovn', cidrBlock: '10.17.0.0/24', gateway: '10.17.0.1' }
    for (const edited of ['rde', '']) {
      const moved = subnet({ name: 'red1', vpc: edited, namespaces: ['shop'], cidrBlock: '10.17.0.0/24' })
      const inEffect = { ...moved, status: { inEffect: { ...published, excludeIps: ['10.17.0.1'] } } }
      expect(subnetsOfNamespace('shop', world([red], inEffect))).toEqual(['red1'])
    }
  })

  it('has the default subnet of the VPC first, but for that of the cluster itself', () => {
    const first = subnet({ name: 'zone', vpc: 'red', cidrBlock: '10.2.0.0/16' })
    const named = world(
      [vpc({ name: 'red', namespaces: ['shop', 'kube-system'], defaultSubnet: 'zone' })],
      ofRed,
      first,
    )
    expect(subnetsOfNamespace('shop', named)).toEqual(['zone', 'red1'])
    expect(subnetsOfNamespace('kube-system', named)).toEqual(['ovn-default'])
    const flagged = world(
      [red],
      ofRed,
      subnet({ name: 'zone', vpc: 'red', cidrBlock: '10.2.0.0/16', default: true }),
    )
    expect(subnetsOfNamespace('shop', flagged)).toEqual(['zone', 'red1'])
    expect(
      subnetsOfNamespace('shop', world([vpc({ ...red.spec, name: 'red', defaultSubnet: 'blue' })], other)),
    ).toEqual(['ovn-default'])
  })
})
