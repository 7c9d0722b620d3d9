import { describe, expect, it } from 'vitest'
import { adminPolicyAddressSetName } from './names.ts'

describe('the address set of a rule of an administrator', () => {
  it.each([
    ['', 'web.ingress.0..IPv4'],
    ['no-db', 'web.ingress.0.no.db.IPv4'],
    ['Ünnamed / rule', 'web.ingress.0..nnamed...rule.IPv4'],
    ['ingress.1', 'web.ingress.0.ingress.1.IPv4'],
  ])('has the name %j of the rule, as far as OVN takes it', (name, set) => {
    expect(adminPolicyAddressSetName('web', 'ingress', 0, name, 4)).toBe(set)
  })

  it.each(['ingress.0.c', 'b.ingress.0.c', 'b-ingress-0-c', 'b.egress.12.'])(
    'is none of another policy, whatever the rule is called: %s',
    (name) => {
      const own = adminPolicyAddressSetName('a', 'ingress', 0, name, 4)
      expect(own).not.toMatch(/^a\.ingress\.0\.(.*\.)?(in|e)gress\.\d+\./)
      expect(own).not.toBe(adminPolicyAddressSetName('a.ingress.0.b', 'ingress', 0, 'c', 4))
    },
  )
})
