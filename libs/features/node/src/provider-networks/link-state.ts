import type { AddressInfo, Netlink, Route, RouteRequest } from '@kube-ovn/netlink'

/** What is moved from a link to another one. */
export interface LinkState {
  readonly addresses: readonly KeptAddress[]
  /** Without the index of the link, those that others depend on first. */
  readonly routes: readonly RouteRequest[]
}

type KeptAddress = Pick<AddressInfo, 'cidr' | 'scope'> & {
  readonly broadcast?: string
  /** Whoever configures the host makes the route to the prefix. */
  readonly noPrefixRoute: boolean
}

/** IFA_F_NOPREFIXROUTE of linux/if_addr.h. */
const flagNoPrefixRoute = 0x200

/** RTPROT_KERNEL of linux/rtnetlink.h. */
const kernelProtocol = 2

/** RTPROT_KERNEL, -BOOT, -STATIC, -RA and -DHCP of linux/rtnetlink.h: what the host's own configuration makes. Routing daemons make theirs anew. */
const protocols: readonly number[] = [kernelProtocol, 3, 4, 9, 16]

/** RT_TABLE_MAIN and -LOCAL of linux/rtnetlink.h. */
const mainTable = 254
const localTable = 255

type Reads = Pick<Netlink, 'addresses' | 'routes'>
type Writes = Pick<Netlink, 'addAddress' | 'removeAddress' | 'replaceRoute' | 'removeRoute'>

/** What would have to be moved: all but what every link has of its own. */
export function readLinkState(host: Reads, index: number): LinkState {
  return {
    addresses: host
      .addresses(index)
      .filter(({ cidr }) => !isLinkLocal(cidr))
      .map(({ cidr, scope, broadcast, flags }) => ({
        ...{ cidr, scope, noPrefixRoute: (flags & flagNoPrefixRoute) !== 0 },
        ...(broadcast === undefined ? {} : { broadcast }),
      })),
    routes: host
      .routes({ index })
      .filter(isMovable)
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .map((route) => withIndex(route, index, undefined)),
  }
}

function isMovable({ type, table, protocol, destination, gateway }: Route): boolean {
  const isOwn = gateway === undefined && (isLinkLocal(destination) || destination.startsWith('ff00::'))
  return type === 'unicast' && table !== localTable && protocols.includes(protocol) && !isOwn
}

function isLinkLocal(cidr: string): boolean {
  return cidr.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(cidr)
}

/** A gateway has to be a neighbour already. */
function rankOf({ gateway, nextHops }: Route): number {
  return gateway === undefined && nextHops === undefined ? 0 : 1
}

/** The route by another link, or by none in particular. */
function withIndex(route: RouteRequest, from: number | undefined, to: number | undefined): RouteRequest {
  const { index: _index, nextHops, ...rest } = route
  const hops = nextHops?.map(({ index, ...hop }) => {
    const next = index === from ? to : index
    return next === undefined ? hop : { ...hop, index: next }
  })
  if (hops !== undefined) return { ...rest, nextHops: hops }
  return to === undefined ? rest : { ...rest, index: to }
}

/** Gives a link the addresses that it has not. */
export function putAddresses(host: Reads & Writes, index: number, { addresses }: LinkState): void {
  const present = new Set(host.addresses(index).map(({ cidr }) => cidr))
  for (const { cidr, scope, broadcast, noPrefixRoute } of addresses) {
    if (present.has(cidr)) continue
    // Nobody else has it: it is on this node already.
    const options = { noDad: true, noPrefixRoute, scope, ...(broadcast === undefined ? {} : { broadcast }) }
    host.addAddress(index, cidr, options)
  }
}

/** Leads routes by a link, in place of those to the same destination that go by another one. */
export function putRoutes(host: Reads & Writes, index: number, { routes }: LinkState): void {
  const present = host.routes({ index })
  for (const route of routes) {
    if (present.some((one) => isSameWay(one, route) || isOfSamePrefix(one, route))) continue
    host.replaceRoute(withIndex(route, undefined, index))
  }
}

function isSameWay(present: Route, route: RouteRequest): boolean {
  return (
    isSamePlace(present, route) &&
    present.gateway === route.gateway &&
    present.source === route.source &&
    present.nextHops?.length === route.nextHops?.length
  )
}

/** The kernel has one route of these, whoever makes another one replaces it. */
function isSamePlace(present: Route, route: RouteRequest): boolean {
  return (
    present.destination === route.destination &&
    present.table === (route.table ?? mainTable) &&
    present.metric === route.metric
  )
}

/**
 * Whether both are the kernel's routes to a prefix that several addresses have. That of the first address serves all: one from another
 * address would go with that one.
 */
function isOfSamePrefix(present: Route, route: RouteRequest): boolean {
  return isSamePlace(present, route) && isPrefixRoute(present) && isPrefixRoute(route)
}

function isPrefixRoute({ protocol, gateway, nextHops }: RouteRequest): boolean {
  return protocol === kernelProtocol && gateway === undefined && nextHops === undefined
}

/** Takes addresses and routes off a link that has been given to another one. */
export function stripLink(host: Reads & Writes, index: number, { addresses }: LinkState): void {
  for (const { cidr } of addresses) host.removeAddress(index, cidr)
  for (const route of host.routes({ index }).filter(isMovable)) {
    // A route over several links is led by the others already.
    if (route.nextHops === undefined) host.removeRoute(route)
  }
}
