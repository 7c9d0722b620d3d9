import type { Family } from '@kube-ovn/ip'
import { addressSet, anyIp, eq, type AddressField, type Match } from '@kube-ovn/ovn-match'
import {
  aclName,
  aclPriority,
  aclTier,
  clusterAddressSetName,
  firewallAddressSetName,
  firewallGroupName,
  firewallMeterName,
} from '@kube-ovn/ovn-names'
import { trafficOf, uniqueAcls, unlogged, type PolicyAcl } from './acl.ts'
import { mostFirewallRules, type FirewallRule, type ParsedEgressFirewall } from './egress-firewall.ts'
import { selectedPeers } from './flow-budget.ts'
import type { FirewallLog } from './firewall-log.ts'
import { portMatches } from './port-matches.ts'

/** An address set of a rule about nodes or a DNS name. */
interface FirewallSet {
  readonly name: string
  readonly addresses: readonly string[]
}

export interface EgressFirewallRows {
  readonly acls: readonly PolicyAcl[]
  readonly sets: readonly FirewallSet[]
  /** Bounds what is logged; absent where nothing is. */
  readonly meter: string | undefined
}

const families = [4, 6] as const

/**
 * Computes the rows of an EgressFirewall.
 *
 * They are in a tier that nobody else is in, before those of all policies: what is allowed is passed on to these, and what is denied stays so
 * whatever they allow. Services are judged by where they lead.
 *
 * @param addressesOf those of the nodes or the DNS name that a rule is about
 * @param log of what its rules do
 * @see ovn-nb(5), ACL, tier
 */
export function egressFirewallRows(
  { rules }: ParsedEgressFirewall,
  namespace: string,
  addressesOf: (rule: number) => readonly string[],
  log: FirewallLog = {},
): EgressFirewallRows {
  const group = firewallGroupName(namespace)
  const sets = rules.flatMap(({ to }, at) =>
    to.kind === 'nodes' || to.kind === 'name'
      ? families.map((family) => ({
          name: firewallAddressSetName(group, at, family),
          addresses: addressesOf(at).filter((one) => one.includes(':') === (family === 6)),
        }))
      : [],
  )
  const own = rules.flatMap((rule, at) => ruleAcls(namespace, rule, at, log))
  return {
    acls: own.length === 0 ? [] : uniqueAcls([...own, ...insideAcls(group), answered(group)]),
    sets,
    meter: own.find(({ isLogged }) => isLogged)?.meter,
  }
}

function field(family: Family): AddressField {
  return `ip${family}.dst`
}

function ruleAcls(namespace: string, rule: FirewallRule, at: number, log: FirewallLog): readonly PolicyAcl[] {
  const severity = log[rule.action]
  const isLogged = severity !== undefined
  const group = firewallGroupName(namespace)
  const peers = rule.to.kind === 'nodes' || rule.to.kind === 'name' ? selectedPeers : 1
  const ports = portMatches(rule, () => [], peers)
  return destinations(rule, group, at).flatMap((destination) =>
    ports.map((port) => ({
      ...trafficOf(group, 'egress', destination, ...(port === undefined ? [] : [port])),
      ...{ tier: aclTier.firewall, priority: aclPriority.firewallRules - Math.min(at, mostFirewallRules) },
      ...{ action: rule.action, isAfterBalancing: true, isLogged, severity },
      meter: isLogged ? firewallMeterName(group) : undefined,
      name: aclName(`egress-firewall/${namespace}/${at}`),
    })),
  )
}

function destinations({ to }: FirewallRule, group: string, at: number): readonly Match[] {
  if (to.kind === 'nobody') return []
  if (to.kind === 'prefix') return [eq(field(to.prefix.family), to.prefix)]
  if (to.kind === 'nodes' || to.kind === 'name')
    return families.map((family) => eq(field(family), addressSet(firewallAddressSetName(group, at, family))))
  return [anyIp]
}

/** Traffic inside of the cluster is nothing that a firewall is about. */
function insideAcls(group: string): readonly PolicyAcl[] {
  return families.map((family) => ({
    ...trafficOf(group, 'egress', eq(field(family), addressSet(clusterAddressSetName(family)))),
    ...{ tier: aclTier.firewall, priority: aclPriority.firewallInside, action: 'pass' as const },
    ...{ ...unlogged, isAfterBalancing: true },
  }))
}

/** What comes in is answered wherever it came from: connections are followed where there is a rule that asks for it, as this one does. */
function answered(group: string): PolicyAcl {
  return {
    ...trafficOf(group, 'egress', anyIp),
    ...{ tier: aclTier.baseline, priority: aclPriority.followed, action: 'allow-related' },
    ...{ ...unlogged, isAfterBalancing: true },
  }
}
