import { networkText, tryParseCidr, type Cidr } from '@kube-ovn/ip'
import { readInEffect, type Subnet } from '@kube-ovn/kube-api'

/** What a node needs to know about a subnet. */
export interface SubnetFacts {
  readonly name: string
  readonly cidrs: readonly Cidr[]
  readonly isDefaultVpc: boolean
  /** OVN routes its traffic: it is no VLAN, or a VLAN with a logical gateway. */
  readonly isOverlay: boolean
  /** Traffic that leaves the cluster gets the node's address. */
  readonly hasNatOutgoing: boolean
}

/** Reads the facts of a subnet; nothing while nothing of it is in effect. */
export function readSubnetFacts(subnet: Subnet, clusterRouter: string): SubnetFacts | undefined {
  const inEffect = readInEffect(subnet)
  if (inEffect === undefined) return undefined
  const { spec, status, metadata } = subnet
  const texts = (inEffect.cidrBlock ?? '').split(',').filter((text) => text !== '')
  // What the controller says is so until the object is gone.
  const isOver = status?.inEffect === undefined && metadata.deletionTimestamp !== undefined
  return {
    name: metadata.name,
    cidrs: texts.map((text) => tryParseCidr(text.trim())).filter((cidr) => cidr !== undefined),
    isDefaultVpc: (inEffect.vpc ?? '') === '' || inEffect.vpc === clusterRouter,
    isOverlay: status?.inEffect !== undefined || (spec?.vlan ?? '') === '' || spec?.logicalGateway === true,
    hasNatOutgoing: inEffect.natOutgoing === true && !isOver,
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
