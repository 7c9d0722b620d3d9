import { PolicyInvalidError } from './errors.ts'
import type { Tried } from './tried.ts'

/** Fields that are known of an object, or of each entry of a list, by what is known of what is in them; `anything` where that is for others to read. */
export interface KnownFields {
  readonly [field: string]: KnownFields | typeof anything
}

const anything = 'anything'

const selector: KnownFields = {
  matchLabels: anything,
  matchExpressions: { key: anything, operator: anything, values: anything },
}

const networkPolicyPeers: KnownFields = {
  ipBlock: { cidr: anything, except: anything },
  podSelector: selector,
  namespaceSelector: selector,
}

const networkPolicyPorts: KnownFields = { protocol: anything, port: anything, endPort: anything }

/** @see networking.k8s.io/v1, NetworkPolicy */
export const networkPolicyFields = {
  spec: { podSelector: selector, policyTypes: anything, ingress: anything, egress: anything },
  ingress: { from: networkPolicyPeers, ports: networkPolicyPorts },
  egress: { to: networkPolicyPeers, ports: networkPolicyPorts },
} satisfies Readonly<Record<string, KnownFields>>

const subject: KnownFields = {
  namespaces: selector,
  pods: { namespaceSelector: selector, podSelector: selector },
}

const adminPeers: KnownFields = { ...subject, nodes: selector, networks: anything, domainNames: anything }

const transport: KnownFields = {
  destinationPort: { number: anything, range: { start: anything, end: anything } },
}

const adminRule: KnownFields = {
  name: anything,
  action: anything,
  ports: {
    portNumber: { protocol: anything, port: anything },
    portRange: { protocol: anything, start: anything, end: anything },
    namedPort: anything,
  },
  protocols: { tcp: transport, udp: transport, sctp: transport, destinationNamedPort: anything },
}

/** @see policy.networking.k8s.io, AdminNetworkPolicy, BaselineAdminNetworkPolicy and ClusterNetworkPolicy */
export const adminPolicyFields = {
  spec: { tier: anything, priority: anything, subject, ingress: anything, egress: anything },
  ingress: { ...adminRule, from: adminPeers },
  egress: { ...adminRule, to: adminPeers },
} satisfies Readonly<Record<string, KnownFields>>

/** @see k8s.ovn.org/v1, EgressFirewall */
export const egressFirewallFields = {
  spec: { egress: anything },
  rule: {
    type: anything,
    to: { cidrSelector: anything, dnsName: anything, nodeSelector: selector },
    ports: { protocol: anything, port: anything },
  },
} satisfies Readonly<Record<string, KnownFields>>

/** @see kubeovn.io/v1, SecurityGroup */
export const securityGroupFields = {
  spec: { tier: anything, allowSameGroupTraffic: anything, ingressRules: anything, egressRules: anything },
  rule: {
    ...{ ipVersion: anything, protocol: anything, priority: anything, policy: anything },
    ...{ remoteType: anything, remoteAddress: anything, remoteSecurityGroup: anything },
    ...{ portRangeMin: anything, portRangeMax: anything },
    ...{ localAddress: anything, sourcePortRangeMin: anything, sourcePortRangeMax: anything },
  },
} satisfies Readonly<Record<string, KnownFields>>

/**
 * Whether no field is in an object that nobody knows here, as one is that a newer version of an API has: what is said by it may be the very thing that
 * narrows the rest. Each is told.
 *
 * @param until what is so because of it
 */
export function isKnown(
  written: unknown,
  known: KnownFields,
  { field, until, tried }: { readonly field: string; readonly until: string; readonly tried: Tried },
): boolean {
  const unknown = unknownFields(written, known, field)
  for (const one of unknown)
    tried(() => {
      const cure = `write none that this version does not know; ${until}`
      throw new PolicyInvalidError({ field: one, value: 'a field that is not known', cure })
    })
  return unknown.length === 0
}

function unknownFields(written: unknown, known: KnownFields, field: string): readonly string[] {
  if (Array.isArray(written))
    // There are no lists of lists: whoever reads one says so.
    return written.flatMap((one, at) =>
      Array.isArray(one) ? [] : unknownFields(one, known, `${field}[${at}]`),
    )
  if (typeof written !== 'object' || written === null) return []
  return Object.entries(written).flatMap(([name, value]): readonly string[] => {
    const place = `${field}.${name}`
    const inside = Object.hasOwn(known, name) ? known[name] : undefined
    if (inside === undefined) return [place]
    return inside === anything ? [] : unknownFields(value, inside, place)
  })
}
