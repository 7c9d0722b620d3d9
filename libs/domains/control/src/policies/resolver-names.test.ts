import { describe, expect, it } from 'vitest'
import { labelOfMade, resolvedDomains, resolverLabel, resolverName } from './resolver-names.ts'

describe('a resolver', () => {
  it("has upstream's name", () => {
    // From upstream's documentation.
    const label = resolverLabel('adminPolicy', 'deny-external-domains')
    expect([label, resolverName(label, '*.baidu.com.')]).toEqual([
      'anp/deny-external-domains',
      'anp-deny-external-domains-fb3029ce',
    ])
    expect(resolverName(resolverLabel('egressFirewall', 'shop'), '*.baidu.com.')).toBe(
      'egress-firewall-shop-fb3029ce',
    )
  })

  it('has a label that is short enough, and not that of another one', () => {
    const long = ['a', 'b'].map((end) => resolverLabel('adminPolicy', `${'policy-'.repeat(30)}${end}`))
    for (const label of long) expect(label).toMatch(/^anp\/[a-z-]{40,}[a-z]-[0-9a-f]{8}$/)
    for (const label of long) expect(label.length).toBeLessThanOrEqual('anp/'.length + 63)
    expect(new Set(long).size).toBe(2)
  })

  it('is that of one domain: of two of one digest the first in order has it, whatever comes first', () => {
    const [first, second, other] = ['a78466.example.com.', 'a90476.example.com.', '*.baidu.com.'] as const
    const want = { 'anp-web-101dc1d3': first, 'anp-web-fb3029ce': other }
    for (const domains of [
      [first, second, other],
      [other, second, first, second],
    ])
      expect(Object.fromEntries(resolvedDomains('anp/web', domains))).toEqual(want)
    expect([...resolvedDomains('anp/web', [second])]).toEqual([['anp-web-101dc1d3', second]])
  })

  it('is known by label and domain together', () => {
    const made = {
      metadata: { name: 'anp-web-fb3029ce', labels: { anp: 'web' } },
      spec: { name: '*.baidu.com.' },
    }
    expect(labelOfMade(made)).toBe('anp/web')
    const others = [
      { ...made, metadata: { ...made.metadata, labels: { anp: 'other' } } },
      { ...made, metadata: { name: 'mine', labels: { anp: 'web' } } },
      { ...made, metadata: { name: made.metadata.name } },
      { ...made, spec: { name: 'www.baidu.com.' } },
      { metadata: made.metadata },
    ]
    expect(others.map((one) => labelOfMade(one))).toEqual(others.map(() => undefined))
  })
})
