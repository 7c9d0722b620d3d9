import { contains, parseCidr, parseIp } from '@kube-ovn/ip'
import type { AddressInfo, Route, RouteRequest } from '@kube-ovn/netlink'

/** What has to be done to the routes of a link. */
export interface RoutePlan {
  readonly replace: readonly RouteRequest[]
  readonly remove: readonly Route[]
  /** Wanted, but another device has a route of the same rank to the same destination, which is not ours to take. */
  readonly occupied: readonly Occupied[]
}

/** A destination that others lead to. */
export interface Occupied {
  readonly destination: string
  /** Indexes of their devices. */
  readonly by: readonly number[]
}

/** RTPROT_STATIC and the main table of linux/rtnetlink.h. */
const protocolStatic = 4
const mainTable = 254

/**
 * Compares routes of the main table.
 *
 * Only static routes by a gateway are removed, which is what this project writes; what somebody else added to the
 * device stays.
 */
export function planRoutes(
  index: number,
  wanted: readonly RouteRequest[],
  actual: readonly Route[],
): RoutePlan {
  const main = actual.filter((route) => route.table === mainTable)
  const replace: RouteRequest[] = []
  const occupied: Occupied[] = []
  for (const route of wanted) {
    const sameRank = main.filter((other) => rankOf(other) === rankOf(route))
    if (sameRank.some((other) => other.index === index && isEqual(other, route))) continue
    const others = sameRank.filter((other) => other.index !== index)
    if (others.length > 0) occupied.push({ destination: route.destination, by: others.flatMap(devicesOf) })
    else replace.push({ ...route, index })
  }
  const wantedRanks = new Set(wanted.map((route) => rankOf(route)))
  const remove = main.filter(
    (route) =>
      route.index === index &&
      route.protocol === protocolStatic &&
      route.gateway !== undefined &&
      !wantedRanks.has(rankOf(route)),
  )
  return { replace, remove, occupied }
}

function devicesOf({ index, nextHops = [] }: Route): readonly number[] {
  return [index, ...nextHops.map((hop) => hop.index)].filter((device) => device !== undefined)
}

/** The kernel keeps one route for a destination and metric (apart from equal-cost ways). */
export function rankOf(route: RouteRequest): string {
  return `${route.destination} ${route.metric ?? (route.destination.includes(':') ? 1024 : 0)}`
}

function isEqual(actual: Route, wanted: RouteRequest): boolean {
  return actual.gateway === wanted.gateway && actual.source === wanted.source && actual.type === 'unicast'
}

/** Whether one of the addresses is in a network that the gateway is in, so that the kernel takes routes by way of it. */
export function isNeighbour(gateway: string, addresses: readonly Pick<AddressInfo, 'cidr'>[]): boolean {
  const ip = parseIp(gateway)
  return addresses.some(({ cidr }) => contains(parseCidr(cidr), ip))
}
