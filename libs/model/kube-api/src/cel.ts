import type { CelRule } from './fields.ts'

/*
 * Rules refuse only text that no version of the controller could ever make sense of: an address that is none. What
 * depends on the rest of the cluster, or can be corrected by the controller (host bits, order of families), is accepted
 * and answered by conditions. CEL's own isIP and isCIDR need Kubernetes 1.31, regular expressions work everywhere.
 */

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const v4 = `${octet}(\\.${octet}){3}`
/** Loose: the exact grammar of IPv6 is the controller's to check. */
const v6 = '[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*(:[0-9.]+)?'
const v4Length = '0*(3[0-2]|[12]?[0-9])'
const v6Length = '0*(12[0-8]|1[01][0-9]|[1-9]?[0-9])'
const address = `(${v4}|${v6})`
const cidr = `(${v4}/${v4Length}|${v6}/${v6Length})`
const mac = '[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(\\.[0-9A-Fa-f]{4}){2}'

/** Refuses what is not an IP prefix or two, separated by a comma. */
export const cidrPairRule = matching(
  'cidrBlock',
  `(${cidr}(,${cidr})?)?`,
  'is not an IP prefix; write one like 10.16.0.0/16 or fd00:10:16::/112, or one of each family separated by a comma, without spaces',
)

/** Refuses what is not an IP address or two, separated by a comma. */
export function addressPairRule(field: string): CelRule {
  return matching(
    field,
    `(${address}(,${address})?)?`,
    'is not an IP address; write one like 10.16.0.1 or fd00:10:16::1, or one of each family separated by a comma, without spaces',
  )
}

export function v4AddressRule(field: string): CelRule {
  return matching(field, `(${v4})?`, 'is not an IPv4 address; write one like 10.16.0.15, or leave it empty')
}

export function v6AddressRule(field: string): CelRule {
  return matching(
    field,
    `(${v6})?`,
    'is not an IPv6 address; write one like fd00:10:16::f, or leave it empty',
  )
}

export function macAddressRule(field: string): CelRule {
  return matching(
    field,
    `(${mac})?`,
    'is not a MAC address; write one like 00:00:00:53:6b:b6, or leave it empty',
  )
}

/** Refuses a word that is none of the given ones. The empty text always passes. */
export function oneOfRule(field: string, words: readonly string[]): CelRule {
  const complaint = `is not allowed; write ${words.join(' or ')}, or leave it empty`
  return {
    rule: `self in [${['', ...words].map((word) => `'${word}'`).join(', ')}]`,
    ...messages(field, complaint),
  }
}

/** Refuses to change a field once it is there. */
export function unchangeableRule(field: string): CelRule {
  return { rule: 'self == oldSelf', message: `${field} is changed; delete the object and create it anew` }
}

function matching(field: string, pattern: string, complaint: string): CelRule {
  // A raw string, so that the pattern needs no second escaping.
  return { rule: `self.matches(r'^(${pattern})$')`, ...messages(field, complaint) }
}

function messages(field: string, complaint: string): { message: string; messageExpression: string } {
  return {
    message: `${field} ${complaint}`,
    messageExpression: `'${field} "' + self + '" ${complaint}'`,
  }
}
