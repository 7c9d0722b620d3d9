export const versions = ['ipv4', 'ipv6'] as const
const everywhere = { ipv4: '0.0.0.0/0', ipv6: '::/0' } as const

/** A rule of a SecurityGroup, for both families; it allows everybody where it says nothing else. */
export function both(rule: object): readonly object[] {
  return versions.map((ipVersion) => ({
    ...{
      ipVersion,
      priority: 10,
      policy: 'allow',
      remoteType: 'address',
      remoteAddress: everywhere[ipVersion],
    },
    ...rule,
  }))
}
