import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { formatIp, tryParseIp, type Ip } from '@kube-ovn/ip'
import type { Service } from '@kube-ovn/kube-api/core'

/**
 * Lists the addresses under which OVN serves a Service: those that its annotations say, else its cluster addresses, which a headless
 * Service has none of, nor has one that is a name for another one.
 */
export function frontendsOf(service: Service): readonly Ip[] {
  const chosen = chosenFrontends(service)
  if (chosen !== undefined) return chosen
  const { spec } = service
  return (spec?.clusterIPs ?? [spec?.clusterIP ?? '']).flatMap((text) => tryParseIp(text) ?? [])
}

/** The annotation that says them; `undefined` when none does. */
export function frontendAnnotation({
  metadata: { annotations },
}: Service): typeof serviceAnnotations.switchLbVip | undefined {
  const { switchLbVip, routerLbVip } = serviceAnnotations
  return [switchLbVip, routerLbVip].find(({ key }) => (annotations?.[key] ?? '') !== '')
}

/** Whether they lead to the Service from outside of its VPC, too. */
export function isOnRouter(service: Service): boolean {
  return frontendAnnotation(service) === serviceAnnotations.routerLbVip
}

/** Those that its user has chosen: none when they can not be read, `undefined` when there is nothing to be read. */
export function chosenFrontends(service: Service): readonly Ip[] | undefined {
  const annotation = frontendAnnotation(service)
  if (annotation === undefined) return undefined
  try {
    const { v4, v6 } = annotation.read(service.metadata.annotations) ?? {}
    return [v4, v6].filter((ip) => ip !== undefined)
  } catch (error) {
    if (error instanceof AnnotationInvalidError) return []
    throw error
  }
}

/** The same as text, by which Services are found that have an address in common. */
export function frontendTexts(service: Service): readonly string[] {
  return frontendsOf(service).map((ip) => formatIp(ip))
}

/** Addresses from outside that lead to a Service, each once, but for those that want to be reached by way of who announces them (KEP-1860). */
export function ingressOf({ spec, status }: Service): readonly Ip[] {
  if (spec?.type !== 'LoadBalancer') return []
  const all = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
    ipMode === 'Proxy' ? [] : (tryParseIp(ip ?? '') ?? []),
  )
  return [...new Set(all)]
}
