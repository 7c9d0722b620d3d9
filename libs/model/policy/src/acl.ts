import type { Family } from '@kube-ovn/ip'
import {
  and,
  inPortGroup,
  outPortGroup,
  predicate,
  printMatch,
  transportPort,
  type Match,
} from '@kube-ovn/ovn-match'
import type { AclDirection, PolicyDirection } from '@kube-ovn/ovn-names'

/** How severe what is logged is, the most severe first (ovn-nb(5), ACL, severity). */
export const aclSeverities = ['alert', 'warning', 'notice', 'info', 'debug'] as const

export type AclSeverity = (typeof aclSeverities)[number]

/** An ACL of a policy (ovn-nb(5), ACL). */
export interface PolicyAcl {
  readonly direction: AclDirection
  readonly tier: number
  readonly priority: number
  readonly action: 'allow' | 'allow-related' | 'allow-stateless' | 'drop' | 'reject' | 'pass'
  readonly match: string
  readonly name: string | undefined
  readonly isLogged: boolean
  readonly severity: AclSeverity | undefined
  readonly meter: string | undefined
  /** Whether what goes to a Service is judged by where that sends it, and not by the Service's address. */
  readonly isAfterBalancing: boolean
}

/** How ACLs call the sides of a packet, from the point of view of a direction. */
export const sides = {
  ingress: { acl: 'to-lport', peer: 'src', own: 'dst', portsIn: outPortGroup },
  egress: { acl: 'from-lport', peer: 'dst', own: 'src', portsIn: inPortGroup },
} as const

/** All addresses of a family. */
export const everywhere: Readonly<Record<Family, string>> = { 4: '0.0.0.0/0', 6: '::/0' }

export const unlogged = { name: undefined, isLogged: false, severity: undefined, meter: undefined } as const

/** What the ports of a group receive or send, as far as it is all that the terms say: every rule of every policy is such a thing. */
export function trafficOf(
  group: string,
  direction: PolicyDirection,
  ...terms: readonly Match[]
): { readonly direction: AclDirection; readonly match: string } {
  const { acl, portsIn } = sides[direction]
  return { direction: acl, match: printMatch(and(portsIn(group), ...terms)) }
}

/** Ports of UDP from server to client, in each family. */
const dhcpPorts = [
  { family: 6, server: 547, client: 546 },
  { family: 4, server: 67, client: 68 },
] as const

/** What a client of DHCP receives or sends, by family. */
export function dhcpTerms(direction: PolicyDirection): readonly (readonly Match[])[] {
  return dhcpPorts.map(({ family, server, client }) => {
    const [source, destination] = direction === 'ingress' ? [server, client] : [client, server]
    return [transportPort('udp.src', source), transportPort('udp.dst', destination), predicate(`ip${family}`)]
  })
}

/** Rows may be asked for twice. An ACL is told from others of its group by these columns. */
export function uniqueAcls(acls: readonly PolicyAcl[]): readonly PolicyAcl[] {
  const keyOf = ({ direction, tier, priority, match }: PolicyAcl): string =>
    `${direction} ${tier} ${priority} ${match}`
  return [...new Map(acls.map((acl) => [keyOf(acl), acl])).values()]
}
