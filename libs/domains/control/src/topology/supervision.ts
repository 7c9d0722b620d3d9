import { labelValue, ovnEipLabel } from '@kube-ovn/annotations'
import { listText } from '@kube-ovn/errors'
import { contains, familyOf, formatIp, networkText, tryParseIp, type Ip } from '@kube-ovn/ip'
import { ovnEipType } from '@kube-ovn/kube-api'
import { matchesLabels, type Labels } from '@kube-ovn/label-selector'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { nodes, ovnEips, subnets } from '../sources.ts'
import type { ExternalConnection } from './external-connections.ts'
import { layouts, type Layout } from './layouts.ts'
import { cidrsOf } from './network.ts'
import { chassisHosts, type ChassisHost } from './node-chassis.ts'
import { routeTables } from './route-tables.ts'
import { routeKey, type BfdPortClaim, type SharedClaim, type VpcProblem, type VpcRoute } from './vpc-spec.ts'

/** By BFD a port of a router asks a neighbour, many times a second, whether it lives. */
export interface BfdSession {
  readonly port: string
  readonly neighbour: Ip
}

/** A route of a VPC's router, and what it counts by. */
export interface PlannedRoute extends VpcRoute {
  /** Absent when it counts always. */
  readonly session?: BfdSession
}

/** A port of the router that is but the source of BFD sessions, and who may host it. */
export interface BfdPort extends Pick<BfdPortClaim, 'addresses'> {
  /** The preferred one first. */
  readonly hosts: readonly ChassisHost[]
}

interface PortHost extends ChassisHost {
  readonly labels: Labels
}

/** The Subnets whose traffic all ways out share. */
const sharingSubnets = rowTable({
  name: 'sharing-subnets',
  of: subnets,
  row: ({ spec }): true | undefined => (spec?.enableEcmp === true ? true : undefined),
})

/** Nodes that may host ports of routers, since they have told what OVN calls them. */
const portHosts = rowTable({
  name: 'port-hosts',
  of: chassisHosts,
  reads: { nodes },
  row: (host, views): PortHost => ({ ...host, labels: views.nodes.get(host.node)?.metadata.labels ?? {} }),
})

/** Addresses of nodes on external subnets, by which traffic can leave. */
const nodeEips = rowTable({
  name: 'node-eips',
  of: ovnEips,
  row: ({
    metadata: { labels },
    status,
  }): { readonly subnet: string; readonly ips: readonly Ip[] } | undefined => {
    if (status?.type !== ovnEipType.nodePort || status.ready !== true) return undefined
    const ips = [status.v4Ip, status.v6Ip].flatMap((text) => tryParseIp(text ?? '') ?? [])
    return { subnet: labels?.[ovnEipLabel.subnet] ?? '', ips }
  },
  indexes: { subnet: ({ subnet }: { readonly subnet: string }) => [subnet] },
})

export const supervisionReads = { layouts, routeTables, sharingSubnets, portHosts, nodeEips }

type Views = { readonly [N in keyof typeof supervisionReads]: ViewOf<(typeof supervisionReads)[N]> }

interface Supervision {
  readonly routes: readonly PlannedRoute[]
  readonly sessions: readonly BfdSession[]
  readonly port: BfdPort | undefined
  readonly problems: readonly VpcProblem[]
}

/**
 * What of a VPC's routes depends on whether their next hops live.
 *
 * OVN speaks BFD by ports that have a chassis of their own, which are those to external subnets.
 */
export function supervisionOf(
  claim: SharedClaim,
  own: readonly Layout[],
  externals: readonly ExternalConnection[],
  views: Views,
): Supervision {
  const problems: VpcProblem[] = []
  const routes = claim.routes.map((route): PlannedRoute => {
    if (!route.isSupervised) return route
    const session = sessionWith(route.nextHop, externals, views)
    if (session !== undefined) return { ...route, session }
    problems.push(unsupervised(route))
    return route
  })
  if (claim.enableBfd && externals.length === 0) problems.push(nobodyToAsk)
  const shares = claim.enableBfd ? sharesOf(own, externals, views) : noShares
  problems.push(...lackOfWays(shares, externals))
  const shared = sharedRoutes(shares, views)
  const known = new Set(routes.map(routeKey))
  const added = shared.filter((route) => !known.has(routeKey(route)))
  const sessions = new Map<string, BfdSession>()
  for (const session of [
    ...[...routes, ...added].flatMap((route) => route.session ?? []),
    ...(claim.enableBfd ? gatewaySessions(externals, views) : []),
  ])
    sessions.set(sessionKey(session), session)
  return {
    routes: [...routes, ...added],
    sessions: [...sessions.values()],
    port: claim.bfdPort && portOf(claim.bfdPort, views),
    problems,
  }
}

export function sessionKey({ port, neighbour }: BfdSession): string {
  return `${port}/${formatIp(neighbour)}`
}

function sessionWith(
  neighbour: Ip,
  externals: readonly ExternalConnection[],
  { layouts: all }: Views,
): BfdSession | undefined {
  const external = externals.find(({ subnet }) => {
    const network = all.get(subnet)
    return network !== undefined && cidrsOf(network).some((cidr) => contains(cidr, neighbour))
  })
  return external && { port: external.eip, neighbour }
}

function unsupervised({ field, nextHop }: VpcRoute): VpcProblem {
  return {
    field: `${field}.bfdId`,
    value: formatIp(nextHop),
    cure: 'choose a next hop in an external subnet that the VPC is connected to, or remove bfdId: OVN supervises no other, and the route counts always',
  }
}

const nobodyToAsk: VpcProblem = {
  field: 'spec.enableBfd',
  value: 'true',
  cure: 'set enableExternal, too: there is no external subnet whose gateways could be supervised',
}

function gatewaySessions(externals: readonly ExternalConnection[], views: Views): readonly BfdSession[] {
  return externals.flatMap(({ subnet, eip }) => {
    const { v4 } = views.layouts.get(subnet)?.gateways ?? {}
    return v4 === undefined ? [] : [{ port: eip, neighbour: v4 }]
  })
}

/** Who shares its traffic, and by which ways it can leave. */
interface Shares {
  readonly sharing: readonly Layout[]
  readonly ways: readonly BfdSession[]
}

const noShares: Shares = { sharing: [], ways: [] }

function sharesOf(own: readonly Layout[], externals: readonly ExternalConnection[], views: Views): Shares {
  const sharing = own.filter(({ name }) => views.sharingSubnets.get(name) === true)
  if (sharing.length === 0) return noShares
  const ways = externals.flatMap(({ subnet, eip }) =>
    views.nodeEips
      .find('subnet', labelValue(subnet))
      .flatMap(({ ips }) => ips.map((neighbour) => ({ port: eip, neighbour }))),
  )
  return { sharing, ways }
}

/** Why traffic that is to be shared leaves as all other does. */
function lackOfWays(
  { sharing, ways }: Shares,
  externals: readonly ExternalConnection[],
): readonly VpcProblem[] {
  if (sharing.length === 0 || externals.length === 0 || ways.length > 0) return []
  const wanting = listText(
    sharing.map(({ name }) => name),
    ', ',
  )
  const outside = listText(
    externals.map(({ subnet }) => subnet),
    ', ',
  )
  const cure = `create OvnEips of type ${ovnEipType.nodePort} in Subnet ${outside}, each with the name of a node that is connected to its ProviderNetwork, or switch enableEcmp of Subnet ${wanting} off: its traffic is not shared, for no such OvnEip is ready`
  return [{ field: 'spec.enableBfd', value: 'true', cure }]
}

/** What comes from a sharing subnet leaves by all nodes that have an address on an external one, and live. */
function sharedRoutes({ sharing, ways }: Shares, views: Views): readonly PlannedRoute[] {
  return sharing.flatMap((network) =>
    cidrsOf(network).flatMap((cidr) =>
      ways
        .filter(({ neighbour }) => familyOf(neighbour) === cidr.family)
        .map((session) => ({
          policy: 'src-ip' as const,
          cidr,
          prefix: networkText(cidr),
          nextHop: session.neighbour,
          table: views.routeTables.get(network.name) ?? '',
          isSymmetric: true,
          isSupervised: true,
          field: 'spec.enableBfd',
          session,
        })),
    ),
  )
}

/** Without a selector few are enough, as upstream has it. */
const mostHosts = 3

function portOf({ addresses, selector }: BfdPortClaim, { portHosts: all }: Views): BfdPort {
  const able = all.scan()
  const hosts =
    selector === undefined
      ? able.slice(0, mostHosts)
      : able.filter(({ labels }) => matchesLabels(selector, labels))
  return { addresses, hosts: hosts.map(({ node, chassis }) => ({ node, chassis })) }
}
