import type {
  AdminNetworkPolicy,
  AdminPolicyPeer,
  AdminPolicyPort,
  AdminPolicyProtocol,
  AdminPolicyRule,
  AdminPolicySubject,
} from '@kube-ovn/kube-api'
import type { PolicyObjects } from './policy-world.ts'
import { drawPrefix, drawSelector } from './random-parts.ts'
import type { Random } from './random.ts'

type Kind = 'anp' | 'banp' | 'cnp'
type AdminPolicies = Pick<
  PolicyObjects,
  'adminNetworkPolicies' | 'baselineAdminNetworkPolicies' | 'clusterNetworkPolicies'
>

/** Policies of administrators; none has the priority of another, since the API leaves it open who is asked first then. */
export function drawAdminPolicies(random: Random, isWanted: boolean): AdminPolicies {
  const count = isWanted ? random.between(1, 4) : 0
  const drawn = Array.from({ length: count }, (_, index) =>
    random.chance(0.5)
      ? { kind: 'anp' as const, priority: 3 * index + random.between(0, 2) }
      : { kind: 'cnp' as const, priority: 12 * index + 4 * random.between(0, 2) },
  )
  const hasBaseline = isWanted && random.chance(0.5)
  const of = (kind: Kind): readonly AdminNetworkPolicy[] =>
    drawn
      .filter((one) => one.kind === kind)
      .map(({ priority }, index) =>
        drawPolicy(random, kind, `${kind}-${index}`, {
          priority,
          ...(kind === 'cnp' ? { tier: random.of('Admin', 'Admin', 'Baseline') } : {}),
        }),
      )
  return {
    adminNetworkPolicies: of('anp'),
    clusterNetworkPolicies: of('cnp'),
    baselineAdminNetworkPolicies: hasBaseline ? [drawPolicy(random, 'banp', 'default', {})] : [],
  }
}

function drawPolicy(random: Random, kind: Kind, name: string, spec: object): AdminNetworkPolicy {
  const version = kind === 'cnp' ? 'v1alpha2' : 'v1alpha1'
  const kinds = {
    anp: 'AdminNetworkPolicy',
    banp: 'BaselineAdminNetworkPolicy',
    cnp: 'ClusterNetworkPolicy',
  } as const
  return {
    apiVersion: `policy.networking.k8s.io/${version}`,
    kind: kinds[kind],
    metadata: { name },
    spec: {
      ...spec,
      subject: drawSubject(random),
      ingress: [...random.some(0, 3, () => drawRule(random, kind, 'from'))],
      egress: [...random.some(0, 3, () => drawRule(random, kind, 'to'))],
    },
  }
}

function drawSubject(random: Random): AdminPolicySubject {
  if (random.chance(0.5)) return { namespaces: drawSelector(random, 'namespaces') }
  return {
    pods: {
      namespaceSelector: drawSelector(random, 'namespaces'),
      podSelector: drawSelector(random, 'pods'),
    },
  }
}

function drawRule(random: Random, kind: Kind, side: 'from' | 'to'): AdminPolicyRule {
  const allow = kind === 'cnp' ? 'Accept' : 'Allow'
  const action = random.chance(0.03)
    ? 'Maybe'
    : random.of(allow, 'Deny', 'Deny', kind === 'banp' ? allow : 'Pass')
  const isPorted = random.chance(0.5)
  return {
    ...random.maybe(0.5, () => ({ name: random.of('first-one', 'no/name, this', 'x') })),
    action,
    [side]: random.some(random.chance(0.05) ? 0 : 1, 3, () => drawPeer(random, side)),
    ...(!isPorted
      ? {}
      : kind === 'cnp'
        ? { protocols: random.some(1, 2, () => drawProtocol(random)) }
        : { ports: random.some(1, 2, () => drawPort(random)) }),
  }
}

function drawPeer(random: Random, side: 'from' | 'to'): AdminPolicyPeer {
  const shape = random.between(0, side === 'to' ? 9 : 5)
  if (shape === 0 && random.chance(0.15)) return { namespaces: {}, pods: {} }
  if (shape <= 2) return { namespaces: drawSelector(random, 'namespaces') }
  if (shape <= 5) return drawSubject(random)
  if (shape <= 6) return { nodes: random.of({}, { matchLabels: { zone: 'a' } }) }
  const network = random.chance(0.04) ? '10.0.0.0/99' : drawPrefix(random, random.of(4, 6))
  return { networks: [network, ...random.some(0, 1, () => drawPrefix(random, random.of(4, 6)))] }
}

function drawPort(random: Random): AdminPolicyPort {
  const protocol = random.of('TCP', 'TCP', 'UDP', 'SCTP')
  const shape = random.between(0, 6)
  if (shape <= 2) return { portNumber: { protocol, port: random.of(80, 8080, 53) } }
  if (shape <= 4) return { portRange: { protocol, start: random.of(1, 53, 81), end: random.of(80, 8080) } }
  return shape === 5 || random.chance(0.8) ? { namedPort: random.of('http', 'names') } : {}
}

function drawProtocol(random: Random): AdminPolicyProtocol {
  if (random.chance(0.2)) return { destinationNamedPort: random.of('http', 'names') }
  const destinationPort = random.chance(0.5)
    ? { number: random.of(80, 8080, 53) }
    : { range: { start: random.of(1, 53, 81), end: random.of(80, 8080) } }
  return random.of({ tcp: { destinationPort } }, { udp: { destinationPort } }, { sctp: { destinationPort } })
}
