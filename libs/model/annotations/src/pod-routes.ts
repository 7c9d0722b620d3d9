import { familyOf, networkText, tryParseCidr, tryParseIp } from '@kube-ovn/ip'
import { annotation, type Annotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

/** A route that a Pod asks for, in canonical text. */
export interface PodRoute {
  /** A prefix. */
  readonly destination: string
  /** Absent: on the link. */
  readonly gateway: string | undefined
  readonly family: 4 | 6
}

/** Each of them is written by itself when the Pod starts. */
const mostRoutes = 256

const defaultDestinations = { 4: '0.0.0.0/0', 6: '::/0' } as const

/** Routes of a NIC: JSON, a list of `{"dst", "gw"}`, of which one may be absent; without `dst` it is the default route. */
export function routesAnnotation(key: string): Annotation<readonly PodRoute[]> {
  return annotation(key, parseRoutes, (routes) =>
    JSON.stringify(routes.map(({ destination: dst, gateway: gw }) => ({ dst, ...(gw && { gw }) }))),
  )
}

function parseRoutes(text: string, field: string): readonly PodRoute[] {
  if (text.trim() === '') return []
  const refuse = (cure: string): AnnotationInvalidError =>
    new AnnotationInvalidError({ field, value: text, cure })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  if (!Array.isArray(json)) throw refuse('write JSON like [{"dst":"10.0.0.0/8","gw":"10.16.0.1"}]')
  if (json.length > mostRoutes) throw refuse(`list at most ${mostRoutes} routes`)
  return (json as readonly unknown[]).map((item, index) => {
    const route = readRoute(item)
    if (typeof route !== 'string') return route
    throw refuse(`${route} in the route of number ${index + 1}`)
  })
}

/** The route, or what to do about it. */
function readRoute(item: unknown): PodRoute | string {
  if (typeof item !== 'object' || item === null) return 'write an object with dst and gw'
  const { dst = '', gw = '' } = item as { readonly dst?: unknown; readonly gw?: unknown }
  if (typeof dst !== 'string' || typeof gw !== 'string') return 'write texts as dst and gw'
  const gateway = gw === '' ? undefined : tryParseIp(gw)
  if (gw !== '' && gateway === undefined) return 'give gw an address'
  if (dst === '' && gateway === undefined) return 'give dst a prefix, or gw an address'
  const ofGateway = gateway === undefined ? undefined : familyOf(gateway)
  const cidr = tryParseCidr(dst === '' ? defaultDestinations[ofGateway ?? 4] : dst)
  if (cidr === undefined) return 'give dst a prefix'
  const destination = networkText(cidr)
  const family = destination.includes(':') ? 6 : 4
  if (ofGateway !== undefined && ofGateway !== family) return 'give dst and gw one family'
  return { destination, gateway: gw === '' ? undefined : gw, family }
}
