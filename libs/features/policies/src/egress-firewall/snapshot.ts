import type { KubeOvnError } from '@kube-ovn/errors'
import { observedOf, type ControlWorld, type Observed } from '@kube-ovn/domains-control'
import { contestedNames, namesAt, resolverLabel } from '@kube-ovn/domains-control/policies'
import { cidrsOf, servicePrefixes } from '@kube-ovn/domains-control/topology'
import { networkText, tryParseCidr } from '@kube-ovn/ip'
import { egressFirewallResource, type EgressFirewall } from '@kube-ovn/kube-api'
import {
  egressFirewallRows,
  NameContestedError,
  NameUnknownError,
  readFirewallLog,
  type EgressFirewallRows,
} from '@kube-ovn/policy'

/** The key of what is inside of the cluster for all firewalls. */
export const insideKey = 'inside'

/** What decides about an EgressFirewall, or about what is inside of the cluster. */
export type FirewallSnapshot =
  | { readonly kind: 'inside'; readonly prefixes: readonly string[] }
  | {
      readonly kind: 'firewall'
      readonly object: EgressFirewall
      readonly isInEffect: boolean
      readonly rows: EgressFirewallRows
      /** Parts without effect. */
      readonly problems: readonly KubeOvnError[]
      /** What its Namespace says of its log and can not be. */
      readonly logProblems: readonly KubeOvnError[]
      /** Which generation its status is about. */
      readonly observed: Observed
      /** When an address of a DNS name ends to count, in milliseconds from now. */
      readonly endsInMs: number | undefined
    }

/** Reads an EgressFirewall, by `namespace/name`, or {@link insideKey}. */
export function observeFirewall(key: string, world: ControlWorld): FirewallSnapshot | undefined {
  if (key === insideKey) return insideOf(world)
  const object = world.egressFirewalls.get(key)
  const read = world.readFirewalls.get(key)
  if (object === undefined || read === undefined) return undefined
  const { namespace, isInEffect, firewall } = read
  const nodes = world.firewallNodes.get(key) ?? []
  const names = namesAt(world.now(), world.resolvedNames)
  const addresses = firewall.rules.map(({ to, action }, rule) =>
    to.kind === 'name' ? names.of(to.name, action) : (nodes[rule] ?? []),
  )
  const contestedBy = contestedNames(resolverLabel('egressFirewall', namespace), world)
  const unknown = firewall.rules.flatMap(({ action, to }, rule): readonly KubeOvnError[] => {
    if (to.kind !== 'name') return []
    const about = { field: `spec.egress[${rule}].to.dnsName`, value: to.name }
    const other = contestedBy.get(to.name)
    if (other !== undefined) return [new NameContestedError({ ...about, other })]
    return action === 'drop' && addresses[rule]?.length === 0 ? [new NameUnknownError(about)] : []
  })
  const { log, problems } = readFirewallLog(world.namespaces.get(namespace)?.metadata.annotations)
  return {
    ...{ kind: 'firewall', object, isInEffect, endsInMs: names.endsInMs() },
    observed: observedOf(egressFirewallResource, object, world),
    rows: egressFirewallRows(firewall, namespace, (rule) => addresses[rule] ?? [], log),
    logProblems: problems,
    problems: [...firewall.problems, ...unknown],
  }
}

/** What belongs to links: neighbours, routers and DHCP are found there. */
const links = ['224.0.0.0/24', '255.255.255.255/32', 'fe80::/10', 'ff02::/16']

/**
 * Overlay subnets, Services and links. An underlay subnet is a part of a physical network, whose other machines are not in the cluster.
 */
function insideOf(world: ControlWorld): FirewallSnapshot | undefined {
  if (!world.readFirewalls.some('inEffect', '')) return undefined
  const overlays = world.layouts
    .scan()
    .filter(({ vlan, hasSwitch }) => hasSwitch && vlan === '')
    .flatMap((network) => cidrsOf(network).map((cidr) => networkText(cidr)))
  const services = servicePrefixes(world).flatMap((text) => {
    const cidr = tryParseCidr(text)
    return cidr === undefined ? [] : [networkText(cidr)]
  })
  return { kind: 'inside', prefixes: [...new Set([...overlays, ...services, ...links])].sort() }
}
