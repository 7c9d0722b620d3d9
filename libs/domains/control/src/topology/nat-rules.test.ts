import { describe, expect, it } from 'vitest'
import { resolveNatRules } from './nat-rules.ts'

describe('resolveNatRules', () => {
  it('reads rules without what is empty', () => {
    const forward = { action: 'forward', match: { srcIPs: '10.17.0.0/28', dstIPs: '8.8.8.8' } }
    const nat = { action: 'nat', match: { srcIPs: 'fd00:10:17::/120', dstIPs: '' } }
    expect(resolveNatRules('nat', { natOutgoing: true, natOutgoingPolicyRules: [forward, nat] })).toEqual([
      forward,
      { action: 'nat', match: { srcIPs: 'fd00:10:17::/120' } },
    ])
  })

  it('looks at none without natOutgoing', () => {
    expect(resolveNatRules('nat', { natOutgoingPolicyRules: [{ action: 'none' }] })).toEqual([])
  })

  it.each([
    { rule: { action: 'drop', match: { srcIPs: '10.0.0.1' } }, field: '[0].action', value: 'drop' },
    { rule: { action: 'nat' }, field: '[0].match', value: '' },
    { rule: { action: 'nat', match: { srcIPs: '10.0.0.1,,' } }, field: '[0].match.srcIPs', value: '' },
    {
      rule: { action: 'nat', match: { dstIPs: '10.0.0.1/33' } },
      field: '[0].match.dstIPs',
      value: '10.0.0.1/33',
    },
    {
      rule: { action: 'nat', match: { srcIPs: '10.0.0.1', dstIPs: '::1' } },
      ...{ field: '[0].match', value: '10.0.0.1 ::1' },
    },
    {
      rule: { action: 'nat', match: { srcIPs: Array<string>(1025).fill('10.0.0.1').join() } },
      ...{ field: '[0].match.srcIPs', value: '1025 entries' },
    },
  ])('refuses $field "$value"', ({ rule, field, value }) => {
    const spec = { natOutgoing: true, natOutgoingPolicyRules: [rule] }
    expect(() => resolveNatRules('nat', spec)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ field: `spec.natOutgoingPolicyRules${field}`, value }),
      }),
    )
  })
})
