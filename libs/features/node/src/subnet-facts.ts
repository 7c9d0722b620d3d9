import { networkText, tryParseCidr, type Cidr } from '@kube-ovn/ip'
import type { Subnet } from '@kube-ovn/kube-api'

/** What a node needs to know about a subnet. */
export interface SubnetFacts {
  readonly name: string
  readonly cidrs: readonly Cidr[]
  readonly isDefaultVpc: boolean
  /** OVN routes its traffic: it is no VLAN, or a VLAN with a logical gateway. */
  readonly isOverlay: boolean
  /** Traffic that leaves the cluster gets the node's address. */
  readonly hasNatOutgoing: boolean
  /** Bytes; 0 means: derive it from the tunnel. */
  readonly mtu: number
}

/**
 * Reads the facts of a subnet.
 *
 * A subnet that the controller has not validated yields nothing: its prefix may be unreadable, or another's.
 */
export function readSubnetFacts(subnet: Subnet, clusterRouter: string): SubnetFacts | undefined {
  const isValidated = (subnet.status?.conditions ?? []).some(
    (condition) => condition.type === 'Validated' && condition.status === 'True',
  )
  if (!isValidated) return undefined
  const spec = subnet.spec
  const texts = (spec?.cidrBlock ?? '').split(',').filter((text) => text !== '')
  const isBeingDeleted = subnet.metadata.deletionTimestamp !== undefined
  return {
    name: subnet.metadata.name,
    cidrs: texts.map((text) => tryParseCidr(text.trim())).filter((cidr) => cidr !== undefined),
    isDefaultVpc: (spec?.vpc ?? '') === '' || spec?.vpc === clusterRouter,
    isOverlay: (spec?.vlan ?? '') === '' || spec?.logicalGateway === true,
    hasNatOutgoing: spec?.natOutgoing === true && !isBeingDeleted,
    mtu: spec?.mtu ?? 0,
  }
}

/** Prefixes of the subnets that share the node's router and whose traffic OVN routes, without host bits. */
export function routedPrefixes(subnets: readonly SubnetFacts[]): readonly string[] {
  return prefixesOf(subnets.filter((subnet) => subnet.isDefaultVpc && subnet.isOverlay))
}

/** Those of {@link routedPrefixes} whose traffic to the outside gets the node's address. */
export function natOutgoingPrefixes(subnets: readonly SubnetFacts[]): readonly string[] {
  return prefixesOf(
    subnets.filter((subnet) => subnet.isDefaultVpc && subnet.isOverlay && subnet.hasNatOutgoing),
  )
}

function prefixesOf(subnets: readonly SubnetFacts[]): readonly string[] {
  return [...new Set(subnets.flatMap((subnet) => subnet.cidrs.map((cidr) => networkText(cidr))))].sort()
}
