import { nodeAnnotations } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import { isConditionTrue, subnetReason, type Subnet, type SubnetStatus } from '@kube-ovn/kube-api'
import type { Refused } from '@kube-ovn/errors'
import { groupTable, rowTable, selectionTable, type ViewOf } from '@kube-ovn/tables'
import { flagsOf } from '../flags.ts'
import { nodes, settingsOf, settingsTable, subnets } from '../sources.ts'
import { unusable } from './aspect.ts'
import { egressFlags } from './egress-flags.ts'
import { egresses, type Egress, type ExternalGateway, type GatewayChoice } from './egress.ts'
import { layouts } from './layouts.ts'
import { silentGateways } from './silent-gateways.ts'

/** How traffic of a Subnet leaves the cluster, as far as it is decided. */
export interface GatewayState {
  /** Nodes by way of which it leaves now, the active one first. None: each pod's own, as with a distributed gateway. */
  readonly carriers: readonly string[]
  /** What nodes are told; absent while the specification can not be used, which leaves what they were told before. */
  readonly published: PublishedEgress | undefined
  /** The one that stays so until it fails; absent where all of them share the traffic, or none is there. */
  readonly active: string | undefined
  /** Why nothing is as it was asked for. */
  readonly problem: GatewayProblem | undefined
  /** Nodes that are named and not there, while others are. */
  readonly strangers: readonly string[]
}

export interface GatewayProblem extends Refused {
  readonly reason: string
}

/** As the status of a Subnet has it. */
export type PublishedEgress = NonNullable<SubnetStatus['egress']>

/** Whether nodes can be gateways: they are there, as far as the cluster knows ready to forward, and answer. */
export const gatewayCandidates = rowTable({
  name: 'gateway-candidates',
  of: nodes,
  reads: { silentGateways },
  row: ({ metadata, status }, views, node) => {
    const isHealthy =
      isConditionTrue(status?.conditions, 'Ready') &&
      !isConditionTrue(status?.conditions, 'NetworkUnavailable') &&
      metadata.annotations?.[nodeAnnotations.allocated.key] === 'true'
    return { isHealthy, isReady: isHealthy && views.silentGateways.get(node) === undefined }
  },
  indexes: { healthy: ({ isHealthy }: { readonly isHealthy: boolean }) => (isHealthy ? [''] : []) },
})

const choosingSubnets = rowTable({
  name: 'gateway-choosing-subnets',
  of: egresses,
  row: (egress, _views, subnet) => {
    if (egress === unusable || egress.gateways === undefined || egress.gateways.nodes.length > 0)
      return undefined
    return { subnet, selectors: egress.gateways.selectors }
  },
  indexes: { subnet: ({ subnet }: { readonly subnet: string }) => [subnet] },
})

/** A Subnet has any number of selectors, of which one is enough. */
const gatewaySelectors = groupTable({
  name: 'gateway-selectors',
  of: choosingSubnets,
  by: 'subnet',
  rows: (members, _views, subnet) =>
    [...members.values()].flatMap(({ selectors }) =>
      selectors.map((selector, place) => [`${subnet}/${place}`, { subnet, selector }] as const),
    ),
  indexes: { subnet: ({ subnet }: { readonly subnet: string }) => [subnet] },
})

const selectedGateways = selectionTable({
  name: 'selected-gateways',
  objects: nodes,
  object: ({ metadata }) => ({ labels: metadata.labels ?? {} }),
  selectors: gatewaySelectors,
  selector: ({ selector }) => ({ selector }),
})

/** Which Subnets ask for a route table on the nodes. */
const routeTableClaims = rowTable({
  name: 'route-table-claims',
  of: egresses,
  reads: { subnets },
  row: (egress, views, subnet) => {
    if (egress === unusable || egress.external === undefined) return undefined
    const { table } = egress.external
    const isHeld = views.subnets.get(subnet)?.status?.egress?.routeTable === table
    return { subnet, table, rank: `${isHeld ? 0 : 1} ${subnet}` }
  },
  indexes: { table: ({ table }: { readonly table: number }) => [String(table)] },
})

const reads = {
  ...{ settingsTable, egresses, layouts, gatewayCandidates, gatewaySelectors, selectedGateways },
  routeTableClaims,
}

type Views = { readonly [N in keyof typeof reads]: ViewOf<(typeof reads)[N]> }

/**
 * By way of which nodes traffic of Subnets of the default VPC leaves the cluster, of those that do not leave it to the node of each pod.
 *
 * Of several nodes the one that was active stays so while it is ready: a node that comes back interrupts nobody. While none is ready
 * those of before remain, as nothing better is known.
 */
export const gatewayStates = rowTable({
  name: 'gateway-states',
  of: subnets,
  reads,
  row: (subnet, views, name): GatewayState | undefined => {
    const layout = views.layouts.get(name)
    if (layout?.isDefaultVpc !== true || layout.isJoin || !layout.isRouted) return undefined
    if (layout.isInterconnected) return undefined
    const egress = views.egresses.get(name)
    if (egress === undefined) return undefined
    const before = carriersOfBefore(subnet, views)
    const idle = { carriers: before, active: undefined, problem: undefined, strangers: [] }
    if (egress === unusable) return { ...idle, published: undefined }
    const taken = problemOfTable(name, egress, views)
    if (taken !== undefined) return { ...idle, published: undefined, problem: taken }
    return stateOf(egress, before, subnet, views)
  },
  indexes: { carrier: ({ carriers }: GatewayState) => carriers },
})

function stateOf(egress: Egress, before: readonly string[], subnet: Subnet, views: Views): GatewayState {
  const { gateways, external } = egress
  if (gateways === undefined)
    return {
      ...{ carriers: [], active: undefined, problem: undefined, strangers: [] },
      published: publishedOf(undefined, external),
    }
  const name = subnet.metadata.name
  const isShared = gateways.isShared || flagsOf(egressFlags, settingsOf(views.settingsTable)).enableEcmp
  const known = knownGateways(name, gateways, views)
  const ready = known.filter(({ node }) => views.gatewayCandidates.get(node)?.isReady === true)
  const names = ready.map(({ node }) => node)
  const current = subnet.status?.activateGateway ?? ''
  const elected = isShared ? names : names.includes(current) ? [current] : names.slice(0, 1)
  const isKnown = new Set(known.map(({ node }) => node))
  const carriers = elected.length > 0 ? elected : before.filter((node) => isKnown.has(node))
  return {
    carriers,
    active: isShared ? undefined : elected[0],
    published: publishedOf({ gateways: known, active: carriers }, external),
    problem: elected.length > 0 ? undefined : problemOf(gateways, known, isShared),
    strangers: gateways.nodes.map(({ node }) => node).filter((node) => !isKnown.has(node)),
  }
}

interface KnownGateway {
  readonly node: string
  readonly addresses: readonly string[]
}

/** Gateways that are there, the preferred ones first. */
function knownGateways(
  subnet: string,
  { nodes: named }: GatewayChoice,
  views: Views,
): readonly KnownGateway[] {
  if (named.length > 0)
    return named
      .filter(({ node }) => views.gatewayCandidates.get(node) !== undefined)
      .map(({ node, addresses }) => ({ node, addresses: addresses.map((ip) => formatIp(ip)) }))
  const selected = views.gatewaySelectors
    .keys('subnet', subnet)
    .flatMap((selector) => views.selectedGateways.keys('selector', selector))
  return [...new Set(selected)].sort().map((node) => ({ node, addresses: [] }))
}

/** Nodes of which the status says that traffic leaves by way of them, and that are still there. */
function carriersOfBefore({ status }: Subnet, views: Views): readonly string[] {
  const active = status?.activateGateway ?? ''
  const said = status?.egress?.active ?? (active === '' ? [] : [active])
  return said.filter((node) => views.gatewayCandidates.get(node) !== undefined)
}

function publishedOf(
  centralized: Pick<PublishedEgress, 'gateways' | 'active'> | undefined,
  external: ExternalGateway | undefined,
): PublishedEgress {
  return {
    ...centralized,
    ...(external === undefined
      ? {}
      : { nextHop: external.addresses, rulePriority: external.priority, routeTable: external.table }),
  }
}

function problemOf(
  { nodes: named, selectors }: GatewayChoice,
  known: readonly KnownGateway[],
  isShared: boolean,
): GatewayProblem {
  const field = named.length > 0 || selectors.length === 0 ? 'spec.gatewayNode' : 'spec.gatewayNodeSelectors'
  const value =
    field === 'spec.gatewayNode' ? named.map(({ node }) => node).join() : JSON.stringify(selectors)
  const { noReadyGateway, noActiveGatewayFound } = subnetReason
  if (known.length > 0)
    return {
      ...{ field, value: known.map(({ node }) => node).join() },
      reason: isShared ? noReadyGateway : noActiveGatewayFound,
      cure: 'make one of these nodes ready, or choose others; until then traffic goes where it went before',
    }
  const cure =
    named.length > 0
      ? 'name nodes that are there'
      : selectors.length > 0
        ? 'label nodes so that one of them is selected'
        : 'name nodes, or choose them by gatewayNodeSelectors'
  return { field, value: value.slice(0, 200), reason: noReadyGateway, cure }
}

/** A route table belongs to one Subnet: the one that has it, else the first by name. */
function problemOfTable(name: string, { external }: Egress, views: Views): GatewayProblem | undefined {
  if (external === undefined) return undefined
  const table = String(external.table)
  const claims = views.routeTableClaims.find('table', table)
  const [holder] = claims.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
  if (holder === undefined || holder.subnet === name) return undefined
  return {
    field: 'spec.policyRoutingTableID',
    value: table,
    reason: subnetReason.routeTableInUse,
    cure: `choose a route table that nobody else has: subnet ${holder.subnet} has this one`,
  }
}
