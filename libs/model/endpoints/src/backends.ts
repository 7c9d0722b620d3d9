import { familyOf, formatIp, tryParseIp, type Family } from '@kube-ovn/ip'
import type { Endpoint, EndpointSlice, ServicePort } from '@kube-ovn/kube-api/core'
import { protocolOf } from './protocols.ts'

/** Where clients are. */
export interface Place {
  readonly node: string
  readonly zone: string | undefined
}

/** Which of the endpoints clients on one node get: those on it and no others, those on it as long as there are any, or those that hints say are near. */
export type NodeScope = 'node' | 'node-first' | 'hints'

/**
 * Lists where traffic for a port of a Service goes: `address:port` of one family, each once, in the order of their text.
 *
 * That is to whoever is ready. When nobody is, it is to whoever ends and still serves (KEP-1669), as kube-proxy does it.
 */
export function backendsOf(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  family: Family,
): readonly string[] {
  return texts(readyOf(endpointsOf(slices, port, family)))
}

/**
 * The same for clients on one node, where these do not get all alike.
 *
 * Hints count when each backend that is ready has some, and some of them are for the node, or else for its zone
 * (https://kubernetes.io/docs/reference/networking/virtual-ips/#traffic-distribution).
 */
export function backendsOn(
  place: Place,
  scope: NodeScope,
  ...[slices, port, family]: Parameters<typeof backendsOf>
): readonly string[] {
  const all = endpointsOf(slices, port, family)
  if (scope === 'hints') return texts(hintedOf(readyOf(all), place))
  const own = readyOf(all.filter(({ endpoint }) => endpoint.nodeName === place.node))
  return texts(own.length > 0 || scope === 'node' ? own : readyOf(all))
}

/** Lists who goes on to answer clients that he has, whether new ones are led to him or not. */
export function servingBackends(...[slices, port, family]: Parameters<typeof backendsOf>): readonly string[] {
  const all = endpointsOf(slices, port, family)
  return texts(all.filter(({ endpoint }) => isReady(endpoint) || isServing(endpoint)))
}

/**
 * The endpoints of a slice that traffic can be led to: where it lists names, none is an address, even if it reads like one.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#address-types
 */
export function endpointsIn({
  addressType,
  endpoints,
}: Pick<EndpointSlice, 'addressType' | 'endpoints'>): readonly Endpoint[] {
  return addressType === 'FQDN' ? [] : (endpoints ?? [])
}

interface Backend {
  readonly text: string
  readonly endpoint: Endpoint
}

function endpointsOf(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  family: Family,
): readonly Backend[] {
  return slices.flatMap((slice) => {
    const number = portOf(slice, port)
    if (number === undefined) return []
    return endpointsIn(slice).flatMap((endpoint) =>
      endpoint.addresses.flatMap((address) => {
        const ip = tryParseIp(address)
        const isWanted = ip !== undefined && familyOf(ip) === family
        return isWanted ? [{ text: endpointText(formatIp(ip), number), endpoint }] : []
      }),
    )
  })
}

function readyOf(all: readonly Backend[]): readonly Backend[] {
  const ready = all.filter(({ endpoint }) => isReady(endpoint))
  return ready.length > 0 ? ready : all.filter(({ endpoint }) => servesToTheEnd(endpoint))
}

function hintedOf(ready: readonly Backend[], { node, zone }: Place): readonly Backend[] {
  const byNode = hinted(ready, 'forNodes', node)
  return byNode ?? hinted(ready, 'forZones', zone) ?? ready
}

/** Nothing unless all have such hints, and one of them is for the place. */
function hinted(
  ready: readonly Backend[],
  kind: 'forNodes' | 'forZones',
  place: string | undefined,
): readonly Backend[] | undefined {
  const hintsOf = ({ endpoint }: Backend) => endpoint.hints?.[kind] ?? []
  if (!ready.every((backend) => hintsOf(backend).length > 0)) return undefined
  const near = ready.filter((backend) => hintsOf(backend).some(({ name }) => name === place))
  return near.length > 0 ? near : undefined
}

function texts(backends: readonly Backend[]): readonly string[] {
  return [...new Set(backends.map(({ text }) => text))].sort()
}

/** An address and a port as OVN writes them (ovn-nb(5), Load_Balancer, vips). */
export function endpointText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Under which number the endpoints of a slice have a port of their Service. One without a number is any port, which OVN can not choose. */
function portOf({ ports }: EndpointSlice, wanted: ServicePort): number | undefined {
  const found = ports?.find(
    (port) => (port.name ?? '') === (wanted.name ?? '') && protocolOf(port) === protocolOf(wanted),
  )
  return found?.port
}

/** Not to know counts as ready (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/). */
function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false
}

function servesToTheEnd(endpoint: Endpoint): boolean {
  return isServing(endpoint) && endpoint.conditions?.terminating === true
}

/** Not to know counts as serving, too. */
function isServing({ conditions }: Endpoint): boolean {
  return conditions?.serving !== false
}
