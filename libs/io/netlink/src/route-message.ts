import { networkText, parseCidr } from '@kube-ovn/ip'
import { align, attribute, nested, parseAttributes, u32 } from './attributes.ts'
import { InvalidNetlinkValueError } from './errors.ts'
import { addressFamily, decodeAddress, encodeAddress, encodePrefix, familyOf, familyOfBytes } from './inet.ts'
import { routeProtocol, routeScope, routeTable } from './numbers.ts'
import type { Family, NextHop, Route, RouteFilter, RouteRequest, RouteType } from './types.ts'

/** RTM_* of linux/rtnetlink.h. */
export const routeMessageType = { created: 24, removed: 25, get: 26 } as const

/** RTA_* of linux/rtnetlink.h. */
const rta = {
  destination: 1,
  outputInterface: 4,
  gateway: 5,
  priority: 6,
  preferredSource: 7,
  metrics: 8,
  multipath: 9,
  table: 15,
  via: 18,
} as const

const metricMtu = 2
/** RTNH_F_ONLINK. */
const onlinkFlag = 4
/** RTM_F_CLONED: a cached exception of IPv6 (path MTU, redirect), no route of anybody's. */
const clonedFlag = 0x200
const headerBytes = 12
const nextHopBytes = 8
/** The metric that the kernel gives to an IPv6 route without one, IP6_RT_PRIO_USER. */
const ipv6DefaultMetric = 1024

/** RTN_* of linux/rtnetlink.h, by number. */
const routeTypes: readonly (RouteType | undefined)[] = [
  undefined,
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
]

export function encodeRouteList(family: Family, filter: RouteFilter): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(addressFamily[family], 0)
  header.writeUInt8(filter.protocol ?? 0, 5)
  return Buffer.concat([
    header,
    ...(filter.table === undefined ? [] : [attribute(rta.table, u32(filter.table))]),
    ...(filter.index === undefined ? [] : [attribute(rta.outputInterface, u32(filter.index))]),
  ])
}

/** Fills in what the kernel or this library would choose, so that a request and its listing compare equal. */
export function completeRoute(request: RouteRequest): Route {
  const destination = parseCidr(request.destination, 'destination')
  const family = destination.family === 4 ? 'ipv4' : 'ipv6'
  const type = request.type ?? 'unicast'
  return {
    ...request,
    destination: networkText(destination),
    family,
    type,
    scope: request.scope ?? defaultScope(request, family, type),
    protocol: request.protocol ?? routeProtocol.static,
    metric: request.metric ?? (family === 'ipv6' ? ipv6DefaultMetric : 0),
    table: request.table ?? routeTable.main,
  }
}

export function encodeRoute(route: Route): Buffer {
  const { family, address, length } = encodePrefix('destination', route.destination)
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(addressFamily[family], 0)
  header.writeUInt8(length, 1)
  header.writeUInt8(route.table < 256 ? route.table : 0, 4)
  header.writeUInt8(route.protocol, 5)
  header.writeUInt8(route.scope, 6)
  header.writeUInt8(routeTypes.indexOf(route.type), 7)
  header.writeUInt32LE(route.onlink === true ? onlinkFlag : 0, 8)
  return Buffer.concat([
    header,
    ...(length === 0 ? [] : [attribute(rta.destination, address)]),
    ...gatewayAttributes(route, family),
    ...(route.index === undefined ? [] : [attribute(rta.outputInterface, u32(route.index))]),
    ...(route.source === undefined
      ? []
      : [attribute(rta.preferredSource, encodeAddress('source', route.source))]),
    ...(route.metric === 0 ? [] : [attribute(rta.priority, u32(route.metric))]),
    attribute(rta.table, u32(route.table)),
    ...(route.mtu === undefined ? [] : [nested(rta.metrics, [attribute(metricMtu, u32(route.mtu))])]),
    ...(route.nextHops === undefined
      ? []
      : [attribute(rta.multipath, Buffer.concat(route.nextHops.map((hop) => encodeNextHop(hop, family))))]),
  ])
}

/** Reads a struct rtmsg and its attributes; `undefined` for what is no IPv4 or IPv6 route of anybody's. */
export function parseRoute(body: Buffer): Route | undefined {
  const family = familyOf(body.readUInt8(0))
  const type = routeTypes[body.readUInt8(7)]
  const flags = body.readUInt32LE(8)
  if (family === undefined || type === undefined || (flags & clonedFlag) !== 0) return undefined
  const found = parseAttributes(body.subarray(headerBytes))
  const destination = found.get(rta.destination)
  const gateway = parseGateway(found)
  const index = found.get(rta.outputInterface)
  const source = found.get(rta.preferredSource)
  const metrics = found.get(rta.metrics)
  const mtu = metrics === undefined ? undefined : parseAttributes(metrics).get(metricMtu)
  const multipath = found.get(rta.multipath)
  const anywhere = family === 'ipv4' ? '0.0.0.0' : '::'
  return {
    family,
    destination: `${destination === undefined ? anywhere : decodeAddress(destination)}/${body.readUInt8(1)}`,
    type,
    scope: body.readUInt8(6),
    protocol: body.readUInt8(5),
    metric: found.get(rta.priority)?.readUInt32LE(0) ?? 0,
    table: found.get(rta.table)?.readUInt32LE(0) ?? body.readUInt8(4),
    ...(gateway === undefined ? {} : { gateway }),
    ...(index === undefined ? {} : { index: index.readUInt32LE(0) }),
    ...(source === undefined ? {} : { source: decodeAddress(source) }),
    ...((flags & onlinkFlag) === 0 ? {} : { onlink: true }),
    ...(mtu === undefined ? {} : { mtu: mtu.readUInt32LE(0) }),
    ...(multipath === undefined ? {} : { nextHops: parseNextHops(multipath) }),
  }
}

/** The scope that ip(8) chooses; IPv6 has none. */
function defaultScope(request: RouteRequest, family: Family, type: RouteType): number {
  if (family === 'ipv6') return routeScope.universe
  if (type === 'local') return routeScope.host
  if (type === 'broadcast' || type === 'multicast' || type === 'anycast') return routeScope.link
  if (type !== 'unicast' || request.gateway !== undefined || request.nextHops !== undefined) {
    return routeScope.universe
  }
  return routeScope.link
}

/** A gateway of the other family (IPv4 over an IPv6 next hop, RFC 5549) goes in an attribute of its own. */
function gatewayAttributes(hop: { readonly gateway?: string }, family: Family): Buffer[] {
  if (hop.gateway === undefined) return []
  const address = encodeAddress('gateway', hop.gateway)
  const gatewayFamily = familyOfBytes(address)
  if (gatewayFamily === family) return [attribute(rta.gateway, address)]
  if (family === 'ipv6') {
    throw new InvalidNetlinkValueError({ field: 'gateway', value: hop.gateway, expected: 'an IPv6 address' })
  }
  return [attribute(rta.via, Buffer.concat([Buffer.from([addressFamily.ipv6, 0]), address]))]
}

function parseGateway(found: ReadonlyMap<number, Buffer>): string | undefined {
  const gateway = found.get(rta.gateway) ?? found.get(rta.via)?.subarray(2)
  return gateway === undefined ? undefined : decodeAddress(gateway)
}

/** struct rtnexthop: length, flags, weight less one, index, attributes. */
function encodeNextHop(hop: NextHop, family: Family): Buffer {
  const weight = hop.weight ?? 1
  if (!Number.isInteger(weight) || weight < 1 || weight > 256) {
    throw new InvalidNetlinkValueError({ field: 'weight', value: String(weight), expected: '1 to 256' })
  }
  const attributes = Buffer.concat(gatewayAttributes(hop, family))
  const header = Buffer.alloc(nextHopBytes)
  header.writeUInt16LE(nextHopBytes + attributes.length, 0)
  header.writeUInt8(hop.onlink === true ? onlinkFlag : 0, 2)
  header.writeUInt8(weight - 1, 3)
  header.writeUInt32LE(hop.index ?? 0, 4)
  return Buffer.concat([header, attributes])
}

function parseNextHops(bytes: Buffer): NextHop[] {
  const hops: NextHop[] = []
  let offset = 0
  while (offset + nextHopBytes <= bytes.length) {
    const length = bytes.readUInt16LE(offset)
    if (length < nextHopBytes || offset + length > bytes.length) break
    const gateway = parseGateway(parseAttributes(bytes.subarray(offset + nextHopBytes, offset + length)))
    const index = bytes.readUInt32LE(offset + 4)
    hops.push({
      weight: bytes.readUInt8(offset + 3) + 1,
      ...(gateway === undefined ? {} : { gateway }),
      ...(index === 0 ? {} : { index }),
      ...((bytes.readUInt8(offset + 2) & onlinkFlag) === 0 ? {} : { onlink: true }),
    })
    offset += align(length)
  }
  return hops
}

/** Whether a listed route is the one that a request describes, cost and way included. */
export function isSameRoute(a: Route, b: Route): boolean {
  return encodeRoute(a).equals(encodeRoute(b))
}

/** Says a route the way ip(8) does, for errors. */
export function describeRoute(route: RouteRequest): string {
  const table = route.table === undefined ? '' : ` table ${route.table}`
  return `${route.destination}${route.gateway === undefined ? '' : ` via ${route.gateway}`}${table}`
}
