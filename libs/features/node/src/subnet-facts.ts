import { formatIp, networkText, tryParseCidr, tryParseIp, tryParseMac, type Cidr } from '@kube-ovn/ip'
import { readInEffect, vpcNamed, type Subnet, type SubnetStatus } from '@kube-ovn/kube-api'

/** What a node needs to know about a subnet. */
export interface SubnetFacts {
  readonly name: string
  readonly cidrs: readonly Cidr[]
  readonly isDefaultVpc: boolean
  /** Name of the Vlan that it is on; empty of an overlay. */
  readonly vlan: string
  /** OVN routes its traffic: it is no VLAN, or a VLAN with a logical gateway. */
  readonly isOverlay: boolean
  /** A VLAN that the router is connected to, beside the gateway outside, and whose Services are the node's: what it has translated goes by OVN. */
  readonly isReachedByRouter: boolean
  /** Traffic that leaves the cluster gets the node's address. */
  readonly hasNatOutgoing: boolean
  /** Tells it from others, in names on the node. */
  readonly uid: string
  /** Exceptions to natOutgoing, the first match wins. */
  readonly natRules: readonly NatRuleFacts[]
  /** Gateway nodes; none where each node is that of its own pods. */
  readonly gateways: readonly GatewayFacts[]
  readonly external: ExternalGatewayFacts | undefined
  /** Addresses of external load balancers in it, and the nodes that lead them to backends of their own. */
  readonly externalAddresses: readonly ExternalAddressFacts[]
  /** Of the router's port in an underlay that is connected to it. */
  readonly mac: string | undefined
}

/** Where an address of an external load balancer is served by OVN. */
interface ExternalAddressFacts {
  readonly address: string
  readonly protocol: 'tcp' | 'udp'
  readonly port: number
  readonly nodes: readonly string[]
}

/** A node by way of which traffic of a subnet leaves the cluster. */
interface GatewayFacts {
  readonly node: string
  readonly isActive: boolean
  /** Given to what leaves there, in place of the node's own. */
  readonly addresses: readonly string[]
}

/** A gateway outside of the cluster, to which gateway nodes send what leaves it. */
interface ExternalGatewayFacts {
  /** At most one of each family. */
  readonly addresses: readonly string[]
  readonly priority: number
  readonly table: number
}

/** An exception to natOutgoing. Prefixes and addresses are text of one family; a list that is empty says any. */
export interface NatRuleFacts {
  /** Twelve hexadecimal digits. */
  readonly id: string
  readonly action: 'nat' | 'forward'
  readonly sources: readonly string[]
  readonly destinations: readonly string[]
}

/** Reads the facts of a subnet; nothing while nothing of it is in effect. */
export function readSubnetFacts(subnet: Subnet, clusterRouter: string): SubnetFacts | undefined {
  const inEffect = readInEffect(subnet)
  if (inEffect === undefined) return undefined
  const { status, metadata } = subnet
  const texts = (inEffect.cidrBlock ?? '').split(',').filter((text) => text !== '')
  // What the controller says is so until the object is gone.
  const isOver = status?.inEffect === undefined && metadata.deletionTimestamp !== undefined
  return {
    name: metadata.name,
    cidrs: texts.map((text) => tryParseCidr(text.trim())).filter((cidr) => cidr !== undefined),
    isDefaultVpc: vpcNamed(inEffect.vpc, clusterRouter) === clusterRouter,
    vlan: inEffect.vlan ?? '',
    isOverlay: (inEffect.vlan ?? '') === '' || inEffect.logicalGateway === true,
    isReachedByRouter: inEffect.u2oInterconnection === true && subnet.spec?.enableLb === false,
    hasNatOutgoing: inEffect.natOutgoing === true && !isOver,
    uid: metadata.uid ?? '',
    natRules: natRulesOf(status?.natOutgoingPolicyRules ?? []),
    externalAddresses: externalAddressesOf(status?.externalAddresses ?? []),
    mac: tryParseMac(status?.u2oInterconnectionMAC ?? ''),
    ...egressOf(isOver ? undefined : status?.egress),
  }
}

type PublishedEgress = NonNullable<SubnetStatus['egress']>

/** Words that are no addresses are somebody else's: the controller has checked its own. */
function egressOf(egress: PublishedEgress = {}): Pick<SubnetFacts, 'gateways' | 'external'> {
  const { gateways = [], active = [], nextHop = '', rulePriority = 0, routeTable = 0 } = egress
  const addresses = addressesOf(nextHop) ?? []
  return {
    gateways: gateways.map(({ node = '', addresses: written = [] }) => ({
      node,
      isActive: active.includes(node),
      addresses: addressesOf(written.join()) ?? [],
    })),
    external:
      addresses.length === 0 || rulePriority === 0 || routeTable === 0
        ? undefined
        : { addresses, priority: rulePriority, table: routeTable },
  }
}

type PublishedAddress = NonNullable<SubnetStatus['externalAddresses']>[number]

/** What is none is somebody else's, and passed over. */
function externalAddressesOf(published: readonly PublishedAddress[]): readonly ExternalAddressFacts[] {
  return published.flatMap(({ address = '', protocol, port = 0, nodes = [] }) =>
    tryParseIp(address) === undefined || (protocol !== 'tcp' && protocol !== 'udp')
      ? []
      : [{ address, protocol, port, nodes }],
  )
}

type PublishedRule = NonNullable<SubnetStatus['natOutgoingPolicyRules']>[number]

/** The controller has checked what it publishes; what somebody else wrote there, and is no rule, is passed over. */
function natRulesOf(rules: readonly PublishedRule[]): readonly NatRuleFacts[] {
  const read = rules.flatMap((rule): NatRuleFacts[] => {
    const { ruleID: id = '', match = {}, action = '' } = rule
    const sources = addressesOf(match.srcIPs)
    const destinations = addressesOf(match.dstIPs)
    const isRule = /^[0-9a-f]{12}$/.test(id) && (action === 'nat' || action === 'forward')
    if (!isRule || sources === undefined || destinations === undefined) return []
    const families = new Set([...sources, ...destinations].map((text) => text.includes(':')))
    return families.size === 1 ? [{ id, action, sources, destinations }] : []
  })
  return [...new Map(read.map((rule) => [rule.id, rule])).values()]
}

/** Addresses and prefixes of a list, without host bits; nothing if one of them is none. */
function addressesOf(list = ''): readonly string[] | undefined {
  const words = list.split(',').filter((word) => word.trim() !== '')
  const read = words.map((word) => {
    const text = word.trim()
    const ip = tryParseIp(text)
    if (ip !== undefined) return formatIp(ip)
    const cidr = tryParseCidr(text)
    return cidr === undefined ? undefined : networkText(cidr)
  })
  return read.some((text) => text === undefined) ? undefined : read.filter((text) => text !== undefined)
}

/** Prefixes that the node reaches by its router. */
export function reachedPrefixes(subnets: readonly SubnetFacts[]): readonly string[] {
  return prefixesOf(
    subnets.filter((subnet) => subnet.isDefaultVpc && (subnet.isOverlay || subnet.isReachedByRouter)),
  )
}

/** Prefixes of the subnets that share the node's router and whose traffic OVN routes, without host bits. */
export function routedPrefixes(subnets: readonly SubnetFacts[]): readonly string[] {
  return prefixesOf(subnets.filter((subnet) => subnet.isDefaultVpc && subnet.isOverlay))
}

/** Those of {@link routedPrefixes} whose traffic leaves the cluster by way of other nodes than this one, or of several. */
export function prefixesLeavingElsewhere(
  subnets: readonly SubnetFacts[],
  nodeName: string,
): readonly string[] {
  return routedPrefixes(
    subnets.filter(({ gateways }) => {
      const leaving = gateways.filter(({ isActive }) => isActive)
      return leaving.length > 1 || leaving.some(({ node }) => node !== nodeName)
    }),
  )
}

/** Those of {@link routedPrefixes} whose traffic to the outside gets the node's address. */
export function natOutgoingPrefixes(subnets: readonly SubnetFacts[]): readonly string[] {
  return prefixesOf(subnets.filter(isTranslated))
}

/** Subnets whose traffic to the outside gets the node's address with exceptions. */
export function subnetsWithNatRules(subnets: readonly SubnetFacts[]): readonly SubnetNatRules[] {
  return subnets
    .filter((subnet) => isTranslated(subnet) && subnet.natRules.length > 0)
    .map((subnet) => {
      const { name, uid, natRules } = subnet
      return { name, uid, natRules, prefixes: prefixesOf([subnet]) }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The exceptions to natOutgoing of a subnet. */
export interface SubnetNatRules extends Pick<SubnetFacts, 'name' | 'uid' | 'natRules'> {
  readonly prefixes: readonly string[]
}

/** A prefix whose traffic to the outside gets an address of its own on this node. */
export interface FixedSource {
  readonly subnet: string
  readonly prefix: string
  readonly address: string
}

/** What gets an address of its own when it leaves the cluster by way of this node. */
export function fixedSources(subnets: readonly SubnetFacts[], nodeName: string): readonly FixedSource[] {
  return subnets
    .filter(isTranslated)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((subnet) => {
      const gateway = subnet.gateways.find(({ node, isActive }) => isActive && node === nodeName)
      return prefixesOf([subnet]).flatMap((prefix) => {
        const address = gateway?.addresses.find((text) => text.includes(':') === prefix.includes(':'))
        return address === undefined ? [] : [{ subnet: subnet.name, prefix, address }]
      })
    })
}

function isTranslated({ isDefaultVpc, isOverlay, hasNatOutgoing }: SubnetFacts): boolean {
  return isDefaultVpc && isOverlay && hasNatOutgoing
}

function prefixesOf(subnets: readonly SubnetFacts[]): readonly string[] {
  return [...new Set(subnets.flatMap((subnet) => subnet.cidrs.map((cidr) => networkText(cidr))))].sort()
}
