import { describe, expect, it } from 'vitest'
import { shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredNatRules, publishedRules } from './desired.ts'

const rule = {
  4: { match: { srcIPs: '10.1.0.0/24', dstIPs: '10.9.0.0/16' }, action: 'forward' },
  6: { match: { srcIPs: 'fd00:1::/120' }, action: 'nat' },
} as const

function statusOf(...rules: Parameters<typeof publishedRules>[1]): unknown {
  const desired = desiredNatRules('blue', { rules: publishedRules('blue', rules) })
  expect(shownRows(desired)).toEqual([])
  return shownPatches(desired)
}

const status = (natOutgoingPolicyRules: unknown) => [
  { object: 'subnets/blue/status', status: { natOutgoingPolicyRules } },
]
const ruleID: unknown = expect.stringMatching(/^[0-9a-f]{12}$/)

describe('desiredNatRules', () => {
  it.each([
    ['IPv4', [rule[4]]],
    ['IPv6', [rule[6]]],
    ['both families, in the order in which they stand', [rule[6], rule[4]]],
  ])('publishes rules of %s', (_name, rules) => {
    expect(statusOf(...rules)).toEqual(status(rules.map((one) => ({ ruleID, ...one }))))
  })

  it('publishes none where there are none', () => expect(statusOf()).toEqual(status(null)))

  it('names each by what it says and where it stands, as upstream does', () => {
    const ids = (...rules: Parameters<typeof publishedRules>[1]) =>
      publishedRules('blue', rules).map((one) => one.ruleID)
    expect(ids(rule[4])).toEqual(ids(rule[4]))
    expect(new Set([...ids(rule[4], rule[4]), ...ids(rule[6])]).size).toBe(3)
    expect(publishedRules('red', [rule[4]])[0]?.ruleID).not.toBe(ids(rule[4])[0])
  })
})
