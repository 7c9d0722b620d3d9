import { familyOf, formatIp, tryParseIp, type Family } from '@kube-ovn/ip'
import type { Endpoint, EndpointSlice, ServicePort } from '@kube-ovn/kube-api/core'
import { protocolOf } from './protocols.ts'

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
  const ready = collect(slices, port, family, isReady)
  return ready.length > 0 ? ready : collect(slices, port, family, servesToTheEnd)
}

function collect(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  family: Family,
  isWanted: (endpoint: Endpoint) => boolean,
): readonly string[] {
  const backends = new Set<string>()
  for (const slice of slices) {
    const number = portOf(slice, port)
    if (number === undefined) continue
    for (const endpoint of slice.endpoints ?? []) {
      if (!isWanted(endpoint)) continue
      for (const text of endpoint.addresses) {
        const ip = tryParseIp(text)
        if (ip !== undefined && familyOf(ip) === family) backends.add(endpointText(formatIp(ip), number))
      }
    }
  }
  return [...backends].sort()
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

function servesToTheEnd({ conditions }: Endpoint): boolean {
  return conditions?.serving === true && conditions.terminating === true
}
