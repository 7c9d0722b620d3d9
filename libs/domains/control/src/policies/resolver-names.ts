import { dnsNameResolverLabel, labelValue } from '@kube-ovn/annotations'
import type { DnsNameResolver } from '@kube-ovn/kube-api'
import { digestOf } from '@kube-ovn/reconcile'

/** As upstream has it. */
const digits = 8

/**
 * Whose names resolvers are for, as their label says it: `anp/<name>` for an AdminNetworkPolicy and a ClusterNetworkPolicy that are called so,
 * `egress-firewall/<namespace>`.
 */
export type ResolverLabel = `${string}/${string}`

/** The label of a policy's resolvers. Of a name that is too long for one there are the beginning and a digest. */
export function resolverLabel(of: keyof typeof dnsNameResolverLabel, name: string): ResolverLabel {
  const value =
    labelValue(name) === name ? name : `${labelValue(name.slice(0, 54))}-${digestOf(name, digits)}`
  return `${dnsNameResolverLabel[of]}/${value}`
}

/** The name of the resolver of a domain, for policies of administrators as upstream has it. */
export function resolverName(label: ResolverLabel, domain: string): string {
  return `${label.replace('/', '-')}-${digestOf(domain, digits)}`
}

/**
 * The domains that have resolvers under a label, by the names of these. Of domains whose digests are the same one the first in order has it: an object is
 * about one.
 */
export function resolvedDomains(
  label: ResolverLabel,
  domains: Iterable<string>,
): ReadonlyMap<string, string> {
  const byName = new Map<string, string>()
  for (const domain of [...new Set(domains)].sort()) {
    const name = resolverName(label, domain)
    if (!byName.has(name)) byName.set(name, domain)
  }
  return byName
}

/** The label of a resolver that was made for a policy, here or by upstream: those of users have other names. */
export function labelOfMade({ metadata, spec }: DnsNameResolver): ResolverLabel | undefined {
  return Object.values(dnsNameResolverLabel)
    .map((key): ResolverLabel => `${key}/${metadata.labels?.[key] ?? ''}`)
    .find((label) => resolverName(label, spec?.name ?? '') === metadata.name)
}
