import { tryParseIp, type Ip } from '@kube-ovn/ip'
import { namesAnnotation, textAnnotation, type Annotations } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { fewWords, mostWords } from './words.ts'

const prefix = 'ovn.kubernetes.io'

/** Annotations by which users give Vips to a Pod. */
export const vipAnnotations = {
  /** Name of the Vip whose addresses and MAC address the Pod has as its own. */
  borrowed: textAnnotation(`${prefix}/vip`),
  /** Names of the Vips whose addresses the Pod may have beside its own: allowed address pairs. */
  shared: namesAnnotation(`${prefix}/aaps`),
} as const

/** Names of the Vips that a Pod shares; none when there are more than may be. */
export function readSharedVips(annotations: Annotations | undefined): readonly string[] {
  try {
    return vipAnnotations.shared.read(annotations) ?? []
  } catch (error) {
    if (error instanceof AnnotationInvalidError) return []
    throw error
  }
}

const portVipsSuffix = '.kubernetes.io/port_vips'

/**
 * Further addresses that any of a Pod's ports may send from, {@link mostWords} at most. What is no address does not count,
 * nor does a list of more than may be.
 */
export function readPortVips(annotations: Annotations | undefined): readonly Ip[] {
  return Object.entries(annotations ?? {})
    .filter(([key]) => key.endsWith(portVipsSuffix))
    .flatMap(([, text]) => (fewWords(text, ',') ?? []).flatMap((part) => tryParseIp(part) ?? []))
    .slice(0, mostWords)
}
