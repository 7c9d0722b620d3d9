import type { SecurityGroupRule } from '@kube-ovn/kube-api'

/** Fields of a rule as upstream names them where it hashes rules, in its order. */
const fields: readonly (readonly [name: string, field: keyof SecurityGroupRule, none: '' | 0])[] = [
  ['IPVersion', 'ipVersion', ''],
  ['LocalAddress', 'localAddress', ''],
  ['Policy', 'policy', ''],
  ['PortRangeMax', 'portRangeMax', 0],
  ['PortRangeMin', 'portRangeMin', 0],
  ['Priority', 'priority', 0],
  ['Protocol', 'protocol', ''],
  ['RemoteAddress', 'remoteAddress', ''],
  ['RemoteSecurityGroup', 'remoteSecurityGroup', ''],
  ['RemoteType', 'remoteType', ''],
  ['SourcePortRangeMax', 'sourcePortRangeMax', 0],
  ['SourcePortRangeMin', 'sourcePortRangeMin', 0],
]

/** The text of which upstream's status has the MD5: where it is the same, a controller of either version finds nothing to do. */
export function rulesText(rules: readonly SecurityGroupRule[]): string {
  const texts = rules.map((rule) => {
    const values = fields.map(([name, field, none]) => {
      const value = rule[field] ?? none
      return `${name}:${typeof value === 'string' ? `"${value}"` : value}`
    })
    return `{${values.join(',')}}`
  })
  return `[${texts.join(',')}]`
}
