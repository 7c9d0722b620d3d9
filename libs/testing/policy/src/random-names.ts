import type { AdminNetworkPolicy, AdminPolicyRule, DnsNameResolver, EgressFirewall } from '@kube-ovn/kube-api'
import type { PolicyObjects } from './policy-world.ts'
import { editOf, withEdits, type Edit } from './random-edit.ts'
import { changeOne, withoutOne } from './random-parts.ts'
import { Random } from './random.ts'

/** As resolvers have them. */
const domains = ['www.example.com.', 'db.example.com.', '*.example.org.'] as const

/** As users write them. */
const spellings = ['www.example.com', 'WWW.Example.com.', 'db.example.com', '*.example.org'] as const

/** Of pods, nodes and others, in both families, and none at all. */
const answers = [
  ...['203.0.113.7', '10.200.0.9', '172.18.0.10', '10.16.0.2', '10.16.0.3'],
  ...['2001:db8::7', 'fd00:200:0::9', 'fd00:18::10', 'fd00:10:16::2', 'fd00:10:16::3'],
  'refused',
] as const

/** Before the time of worlds: just now, and so long ago that programs have forgotten it. */
const lookups = ['2025-12-31T23:59:50Z', '2025-11-30T12:00:00Z'] as const

/** In half of the worlds that have policies which can, these name DNS names, and name servers have answered for some of these. */
export function withNames(seed: number, objects: PolicyObjects): PolicyObjects {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0xd45)
  const { adminNetworkPolicies, clusterNetworkPolicies, egressFirewalls } = objects
  const canName = [adminNetworkPolicies, clusterNetworkPolicies, egressFirewalls].some(
    (list) => list.length > 0,
  )
  if (!canName || random.chance(0.5)) return objects
  return {
    ...objects,
    adminNetworkPolicies: adminNetworkPolicies.map((policy) => withPeers(random, policy)),
    clusterNetworkPolicies: clusterNetworkPolicies.map((policy) => withPeers(random, policy)),
    egressFirewalls: egressFirewalls.map((firewall) => withDestinations(random, firewall)),
    dnsNameResolvers: [...domains, random.of(...domains)]
      .filter(() => random.chance(0.8))
      .map((domain, index) => drawResolver(random, domain, index)),
  }
}

/** Whether names of a world are followed; in some of those that have any, too, they are not. */
export function followsNames(seed: number): boolean {
  return new Random(seed ^ 0xd45f).chance(0.8)
}

function withPeers(random: Random, { spec = {}, ...policy }: AdminNetworkPolicy): AdminNetworkPolicy {
  const named = (rule: AdminPolicyRule): AdminPolicyRule => {
    if (random.chance(0.3)) return rule
    const domainNames = random.some(1, 2, () => random.of(...spellings))
    return { ...rule, to: [...(random.chance(0.5) ? (rule.to ?? []) : []), { domainNames }] }
  }
  return { ...policy, spec: { ...spec, egress: (spec.egress ?? []).map(named) } }
}

function withDestinations(random: Random, { spec, ...firewall }: EgressFirewall): EgressFirewall {
  const egress = (spec?.egress ?? []).map((rule) =>
    random.chance(0.5) ? rule : { ...rule, to: { dnsName: random.of(...spellings) } },
  )
  return { ...firewall, spec: { egress } }
}

/** One that a user made: what counts of a name is what any resolver of it has. */
function drawResolver(random: Random, domain: string, index: number): DnsNameResolver {
  return answered(random, {
    apiVersion: 'kubeovn.io/v1',
    kind: 'DNSNameResolver',
    metadata: { name: `answers-${index}`, uid: `uid-answers-${index}` },
    spec: { name: domain },
  })
}

/** The resolver with what CoreDNS has written into it. */
function answered(random: Random, resolver: DnsNameResolver): DnsNameResolver {
  const domain = resolver.spec?.name ?? ''
  const names = domain.startsWith('*') ? ['a', 'b'].map((label) => domain.replace('*', label)) : [domain]
  const resolvedNames = names.map((dnsName) => {
    // Nobody may have asked for a name for long.
    const isAsked = random.chance(0.6)
    const resolvedAddresses = answers
      .filter(() => random.chance(0.45))
      .map((ip) => ({ ip, ttlSeconds: 30, lastLookupTime: isAsked ? random.of(...lookups) : lookups[1] }))
    return { dnsName, resolvedAddresses }
  })
  return { ...resolver, status: { resolvedNames } }
}

/** What name servers and users do meanwhile, also to resolvers that the controller made. */
const edits: readonly Edit[] = [
  editOf('dnsNameResolvers', (random, list) => changeOne(random, list, (one) => answered(random, one))),
  editOf('dnsNameResolvers', (random, list) => changeOne(random, list, (one) => answered(random, one))),
  editOf('dnsNameResolvers', withoutOne),
]

/** Draws some edits of a world that has names, and gives the objects behind them. */
export function namesEdited(seed: number, objects: PolicyObjects): PolicyObjects {
  if (objects.dnsNameResolvers.length === 0) return objects
  return withEdits(new Random(seed ^ 0x5ed45), edits, 3, objects)
}
