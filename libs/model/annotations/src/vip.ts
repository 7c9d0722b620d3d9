import { tryParseIp, type Ip } from '@kube-ovn/ip'
import { namesAnnotation, splitNames, textAnnotation, type Annotations } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** Annotations by which users give Vips to a Pod. */
export const vipAnnotations = {
  /** Name of the Vip whose addresses and MAC address the Pod has as its own. */
  borrowed: textAnnotation(`${prefix}/vip`),
  /** Names of the Vips whose addresses the Pod may have beside its own: allowed address pairs. */
  shared: namesAnnotation(`${prefix}/aaps`),
} as const

const portVipsSuffix = '.kubernetes.io/port_vips'

/** Further addresses that any of a Pod's ports may send from. What is no address does not count. */
export function readPortVips(annotations: Annotations | undefined): readonly Ip[] {
  return Object.entries(annotations ?? {})
    .filter(([key]) => key.endsWith(portVipsSuffix))
    .flatMap(([, text]) => splitNames(text).flatMap((part) => tryParseIp(part) ?? []))
}
