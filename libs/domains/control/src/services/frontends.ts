import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { formatIp, tryParseIp, type Ip } from '@kube-ovn/ip'
import type { Service } from '@kube-ovn/kube-api/core'

/**
 * Lists the addresses under which OVN serves a Service: those of its annotation `switch_lb_vip`, else its cluster addresses, which a headless
 * Service has none of, nor has one that is a name for another one.
 */
export function frontendsOf(service: Service): readonly Ip[] {
  const chosen = chosenFrontends(service)
  if (chosen !== undefined) return chosen
  const { spec } = service
  return (spec?.clusterIPs ?? [spec?.clusterIP ?? '']).flatMap((text) => tryParseIp(text) ?? [])
}

/** Those that its user has chosen: none when they can not be read, `undefined` when there is nothing to be read. */
export function chosenFrontends({ metadata: { annotations } }: Service): readonly Ip[] | undefined {
  const { switchLbVip } = serviceAnnotations
  if ((annotations?.[switchLbVip.key] ?? '') === '') return undefined
  try {
    const { v4, v6 } = switchLbVip.read(annotations) ?? {}
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
