import { contains, familyOf, formatIp, networkText, parseCidr, type Cidr, type Ip } from '@kube-ovn/ip'
import { bfdSession, logicalRouter, vpcRoute } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { routeKey, sessionKey, type PlannedRoute } from '@kube-ovn/domains-control/topology'

/** A family of a subnet from which packets come that nothing else may lead on. */
export interface RoutedPrefix {
  readonly cidr: Cidr
  /** The router's own address there. */
  readonly gateway: Ip
  /** Of the router, for what comes from the subnet; empty is the main one. */
  readonly table: string
}

export interface RoutesSnapshot {
  readonly vpc: string
  /** What the user wrote, and what BFD adds to it. */
  readonly routes: readonly PlannedRoute[]
  /** IPv6 next hops of the router's policies, but for nodes. */
  readonly policyHops: readonly Ip[]
  /** Next hops towards the nodes: of the default VPC alone. */
  readonly nodeHops: readonly Ip[]
  /** Of the subnets of any VPC but the default one, by their names. */
  readonly prefixes: readonly RoutedPrefix[]
  /** Of external subnets that the router is in. */
  readonly externals: readonly Cidr[]
}

/** Nothing is routed by this table. */
const policyHopTable = 'policy-next-hops'

type Route = Omit<PlannedRoute, 'field' | 'isSupervised'>

/**
 * Computes the routes of a VPC's router: those of its specification, and what is added.
 *
 * The default VPC leads to the nodes what no subnet is the destination of, in each table that a user routes in. The router of
 * any other one needs a route of whatever kind for a packet, or no policy is looked at: what comes from a subnet and nothing leads
 * on goes to the subnet's own gateway, which is the router itself.
 *
 * @see ovn-nb(5), Logical_Router_Static_Route
 */
export function desiredRoutes(snapshot: RoutesSnapshot): Desired {
  const { vpc, routes, policyHops, nodeHops, prefixes, externals } = snapshot
  const connected = [...externals, ...prefixes.map(({ cidr }) => cidr)]
  const own = [...nodeRoutes(routes, nodeHops), ...subnetRoutes(routes, prefixes, connected)]
  const used: readonly Route[] = [...routes, ...own]
  const all = new Map(
    [...used, ...hopRoutes(used, policyHops)].map((route) => [`${vpc}/${routeKey(route)}`, route]),
  )
  return {
    ...nothing,
    rows: [...all].map(([id, route]) => desiredRoute(id, route)),
    members: [...all.keys()].map((id) =>
      memberOf(ref(logicalRouter, vpc), 'static_routes', ref(vpcRoute, id)),
    ),
  }
}

function desiredRoute(id: string, { policy, prefix, nextHop, table, isSymmetric, session }: Route): OwnedRow {
  return {
    kind: vpcRoute,
    id,
    columns: {
      // Set although it may be the default: upstream compares it literally.
      policy,
      ip_prefix: prefix,
      nexthop: formatIp(nextHop),
      route_table: table,
      bfd: session && ref(bfdSession, sessionKey(session)),
      options: { ecmp_symmetric_reply: isSymmetric ? 'true' : undefined },
      external_ids: externalIds({}),
    },
  }
}

/** A default route of the user's own stands in their place: with both, traffic would take either of two ways out. */
function nodeRoutes(routes: readonly PlannedRoute[], hops: readonly Ip[]): readonly Route[] {
  const tables = new Set(['', ...routes.map(({ table }) => table)])
  return hops
    .flatMap((nextHop) => [...tables].map((table) => defaultRoute(nextHop, table)))
    .filter((route) => !routes.some((other) => isSameWay(route, other)))
}

/**
 * Stock OVN prefers a source of /24 to a destination of /16, where upstream's build has all sources come last. So where a user
 * leads a shorter prefix than the subnet's somewhere, or a source that the subnet is a part of, or the router itself is in one (an
 * external subnet of /64 beside a subnet of /112, whose answers would not leave it), the route that is added has any destination, and
 * comes after all others.
 * So it has where the user leads the very source somewhere: the router itself would get its share of that traffic.
 */
function subnetRoutes(
  routes: readonly PlannedRoute[],
  prefixes: readonly RoutedPrefix[],
  connected: readonly Cidr[],
): readonly Route[] {
  const added = new Map<string, Route>()
  for (const { cidr, gateway, table } of prefixes) {
    const others = routes.filter((route) => route.table === table && route.cidr.family === cidr.family)
    const own = sourceRoute(cidr, gateway, table)
    const last = defaultRoute(gateway, table)
    // One of any source leads on all that comes from the subnet, too, and would be overtaken by a destination of its length.
    if (others.some((other) => other.cidr.prefixLength === 0)) continue
    const isShorter = (other: Cidr): boolean =>
      other.family === cidr.family && other.prefixLength < cidr.prefixLength
    const isOvertaken = (other: PlannedRoute): boolean =>
      isShorter(other.cidr) && (other.policy === 'dst-ip' || contains(other.cidr, cidr.network))
    const isOvertaking =
      connected.some(isShorter) || others.some((other) => isSameWay(own, other) || isOvertaken(other))
    if (isOvertaking) added.getOrInsert(`${cidr.family} ${table}`, last)
    else added.set(`${networkText(cidr)} ${table}`, own)
  }
  return [...added.values()]
}

/**
 * Stock OVN asks for an IPv6 next hop at the hop's own group only where a route names it. For one that policies alone name it
 * asks the group of the packet's destination, in which the next hop is not, so nothing would ever be sent there.
 */
function hopRoutes(routes: readonly Route[], hops: readonly Ip[]): readonly Route[] {
  const named = new Set(routes.map(({ nextHop }) => nextHop))
  return hops
    .filter((hop) => !named.has(hop))
    .map((nextHop) => {
      const prefix = `${formatIp(nextHop)}/128`
      const way = { policy: 'dst-ip', cidr: parseCidr(prefix), prefix, table: policyHopTable } as const
      return { ...way, nextHop, isSymmetric: false }
    })
}

function defaultRoute(nextHop: Ip, table: string): Route {
  const prefix = familyOf(nextHop) === 4 ? '0.0.0.0/0' : '::/0'
  return { policy: 'dst-ip', cidr: parseCidr(prefix), prefix, nextHop, table, isSymmetric: false }
}

function sourceRoute(cidr: Cidr, nextHop: Ip, table: string): Route {
  return { policy: 'src-ip', cidr, prefix: networkText(cidr), nextHop, table, isSymmetric: false }
}

function isSameWay(one: Route, other: Route): boolean {
  return one.table === other.table && one.policy === other.policy && one.prefix === other.prefix
}
