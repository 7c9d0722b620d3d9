import { checkLength, familyOf, parseCidr, parseIp, type Family } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf } from './aspect.ts'
import { inSubnet, SubnetInvalidError } from './errors.ts'

/** An exception to natOutgoing: addresses and prefixes of one family, separated by commas. */
export interface NatRule {
  readonly match: { readonly srcIPs?: string; readonly dstIPs?: string }
  readonly action: string
}

type WrittenRule = NonNullable<SubnetSpec['natOutgoingPolicyRules']>[number]

const actions = ['nat', 'forward']

/**
 * Reads the exceptions to natOutgoing of a Subnet; none while it has no natOutgoing.
 *
 * @throws SubnetInvalidError
 */
export function resolveNatRules(subnet: string, spec: SubnetSpec): readonly NatRule[] {
  const written = spec.natOutgoing === true ? (spec.natOutgoingPolicyRules ?? []) : []
  const field = 'spec.natOutgoingPolicyRules'
  inSubnet(subnet, () => checkLength(written, field, 'list several prefixes in one rule'))
  return written.map((rule, index) => {
    checkRule(subnet, rule, `${field}[${index}]`)
    const { srcIPs = '', dstIPs = '' } = rule.match ?? {}
    const match = { ...(srcIPs === '' ? {} : { srcIPs }), ...(dstIPs === '' ? {} : { dstIPs }) }
    return { match, action: rule.action ?? '' }
  })
}

function checkRule(subnet: string, { match = {}, action = '' }: WrittenRule, field: string): void {
  const refuse = (part: string, value: string, cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet, field: `${field}.${part}`, value, cure })
  if (!actions.includes(action)) throw refuse('action', action, `write ${actions.join(' or ')}`)
  const families = new Set(
    (['srcIPs', 'dstIPs'] as const).flatMap((part) =>
      inSubnet(subnet, () => familiesOfList(match[part] ?? '', `${field}.match.${part}`)),
    ),
  )
  if (families.size === 0) throw refuse('match', '', 'name srcIPs, dstIPs or both')
  if (families.size === 1) return
  const texts = [match.srcIPs, match.dstIPs].filter((text) => (text ?? '') !== '')
  throw refuse('match', texts.join(' '), 'make a rule for each address family')
}

function familiesOfList(text: string, field: string): readonly Family[] {
  if (text === '') return []
  const words = text.split(',')
  checkLength(words, field, 'write longer prefixes together as a shorter one')
  return words.map((word) => {
    const value = word.trim()
    return value.includes('/') ? parseCidr(value, field).family : familyOf(parseIp(value, field))
  })
}

/** Exceptions to natOutgoing of Subnets, of those that have any. */
export const natRules = rowTable({
  name: 'nat-rules',
  of: subnets,
  row: aspectOf((name, spec) => {
    const rules = resolveNatRules(name, spec)
    return rules.length === 0 ? undefined : rules
  }),
})
