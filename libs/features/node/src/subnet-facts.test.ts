import type { Subnet, SubnetInEffect, SubnetSpec, SubnetStatus } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { readInEffect } from '@kube-ovn/kube-api'
import {
  natOutgoingPrefixes,
  reachedPrefixes,
  readSubnetFacts,
  routedPrefixes,
  subnetsWithNatRules,
} from './subnet-facts.ts'

const inEffect: SubnetInEffect = {
  cidrBlock: '10.1.0.0/16,fd00:1::/112',
  protocol: 'Dual',
  gateway: '10.1.0.1,fd00:1::1',
  excludeIps: ['10.1.0.1', 'fd00:1::1'],
  provider: 'ovn',
  vpc: 'ovn-cluster',
  natOutgoing: true,
  mtu: 1300,
}
const prefixes = ['10.1.0.0/16', 'fd00:1::/112']
const refused = [{ type: 'Validated', status: 'False' }]
const validated = [{ type: 'Validated', status: 'True' }]

interface SubnetFields extends SubnetSpec {
  readonly status?: SubnetStatus
  readonly deletionTimestamp?: string
}

function subnet({ status = {}, deletionTimestamp, ...spec }: SubnetFields): Subnet {
  const metadata = { name: 'blue', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) }
  return { metadata, spec, status }
}

function prefixesOf(fields: SubnetFields) {
  const facts = readSubnetFacts(subnet(fields), 'ovn-cluster')
  const all = facts === undefined ? [] : [facts]
  return { routed: routedPrefixes(all), natOutgoing: natOutgoingPrefixes(all) }
}

describe('a subnet whose status says what is in effect', () => {
  it.each<{ name: string; fields: SubnetFields }>([
    { name: 'was edited into something that can not be used', fields: { cidrBlock: 'none' } },
    { name: 'says that it is of another VPC', fields: { vpc: 'other' } },
    { name: 'says that it is on a VLAN', fields: { vlan: 'v10' } },
    { name: 'says another prefix, which was not accepted', fields: { cidrBlock: '10.9.0.0/16' } },
    { name: 'is being deleted', fields: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
  ])('is routed and translated as before when it $name', ({ fields }) => {
    const status = { inEffect, conditions: refused }
    expect(prefixesOf({ natOutgoing: false, ...fields, status })).toEqual({
      routed: prefixes,
      natOutgoing: prefixes,
    })
    expect(readInEffect(subnet({ mtu: 100, ...fields, status }))?.mtu).toBe(1300)
  })

  it.each([
    { name: 'a gateway of the physical network', logicalGateway: false, isRouted: false },
    { name: 'one of OVN', logicalGateway: true, isRouted: true },
  ])('is routed and translated on a VLAN as its gateway is $name', ({ logicalGateway, isRouted }) => {
    const status = { inEffect: { ...inEffect, vlan: 'v10', logicalGateway }, conditions: validated }
    const expected = isRouted ? prefixes : []
    expect(prefixesOf({ natOutgoing: true, status })).toEqual({ routed: expected, natOutgoing: expected })
  })

  it('is translated no more once that says so', () => {
    const status = { inEffect: { ...inEffect, natOutgoing: false }, conditions: validated }
    expect(prefixesOf({ natOutgoing: true, status })).toEqual({ routed: prefixes, natOutgoing: [] })
  })
})

describe('a subnet whose status upstream wrote', () => {
  const written = { cidrBlock: inEffect.cidrBlock ?? '', natOutgoing: true }

  it.each<{ name: string; fields: SubnetFields; expected: ReturnType<typeof prefixesOf> }>([
    { name: 'as it is written', fields: {}, expected: { routed: prefixes, natOutgoing: prefixes } },
    {
      name: 'without translation once it is being deleted',
      fields: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      expected: { routed: prefixes, natOutgoing: [] },
    },
    { name: 'not, on a VLAN', fields: { vlan: 'v10' }, expected: { routed: [], natOutgoing: [] } },
  ])('is in effect $name', ({ fields, expected }) => {
    expect(prefixesOf({ ...written, ...fields, status: { conditions: validated } })).toEqual(expected)
  })

  it('is not while it is not validated', () => {
    expect(readSubnetFacts(subnet({ ...written, status: { conditions: refused } }), 'ovn-cluster')).toBe(
      undefined,
    )
  })
})

describe('exceptions to natOutgoing', () => {
  const ruleID = '343ff13b29dd'
  const prefix = '10.1.0.0/24'

  function rulesOf(status: SubnetStatus) {
    const facts = readSubnetFacts(subnet({ status: { inEffect, ...status } }), 'ovn-cluster')
    return subnetsWithNatRules(facts === undefined ? [] : [facts]).map(({ natRules }) => natRules)
  }

  it('are read without host bits', () => {
    const match = { srcIPs: '10.1.0.7/24, 10.1.2.3', dstIPs: '8.8.8.8' }
    expect(rulesOf({ natOutgoingPolicyRules: [{ ruleID, match, action: 'forward' }] })).toEqual([
      [{ id: ruleID, action: 'forward', sources: [prefix, '10.1.2.3'], destinations: ['8.8.8.8'] }],
    ])
  })

  it('are none without natOutgoing', () => {
    const off = { ...inEffect, natOutgoing: false }
    const rule = { ruleID, match: { srcIPs: prefix }, action: 'nat' }
    expect(rulesOf({ inEffect: off, natOutgoingPolicyRules: [rule] })).toEqual([])
  })

  it.each<{ name: string; rule: NonNullable<SubnetStatus['natOutgoingPolicyRules']>[number] }>([
    { name: 'has another action', rule: { ruleID, match: { srcIPs: prefix }, action: 'drop' } },
    { name: 'is about nothing', rule: { ruleID, match: {}, action: 'nat' } },
    { name: 'is of two families', rule: { ruleID, match: { srcIPs: prefix, dstIPs: '::1' }, action: 'nat' } },
    { name: 'has a word that is no address', rule: { ruleID, match: { srcIPs: 'x' }, action: 'nat' } },
    { name: 'has no name for sets', rule: { ruleID: 'a b', match: { srcIPs: prefix }, action: 'nat' } },
    { name: 'occurs twice', rule: { ruleID: 'f17d79654b98', match: { srcIPs: prefix }, action: 'nat' } },
  ])('stand beside one that $name', ({ rule }) => {
    const good = { ruleID: 'f17d79654b98', match: { srcIPs: prefix }, action: 'nat' }
    const [rules] = rulesOf({ natOutgoingPolicyRules: [rule, good] })
    expect(rules).toHaveLength(1)
    expect(rules?.[0]?.id).toBe('f17d79654b98')
  })
})

it('reaches by its router underlays that are connected to it and whose Services are the node’s', () => {
  const inEffect = { cidrBlock: '172.19.0.0/24', vlan: 'v10', u2oInterconnection: true }
  const reached = (spec: object, effect: object = inEffect) => {
    const facts = readSubnetFacts(
      { metadata: { name: 'yard' }, spec, status: { inEffect: effect } },
      'ovn-cluster',
    )
    return facts === undefined ? [] : reachedPrefixes([facts])
  }
  expect(reached({ enableLb: false })).toEqual(['172.19.0.0/24'])
  expect(reached({})).toEqual([])
  expect(reached({ enableLb: false }, { ...inEffect, u2oInterconnection: false })).toEqual([])
})
