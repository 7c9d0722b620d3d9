import { tryParseIp, type Ip } from '@kube-ovn/ip'
import { namesAnnotation, type Annotations } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { fewWords, mostWords } from './words.ts'

const prefix = 'ovn.kubernetes.io'

/** Annotations by which users give Vips to a Pod. */
export const vipAnnotations = {
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

const borrowedSuffix = '.kubernetes.io/vip'

/** Names of the Vips whose addresses NICs of a Pod have as their own. */
export function readBorrowedVips(annotations: Annotations | undefined): readonly string[] {
  const names = Object.entries(annotations ?? {})
    .filter(([key, name]) => key.endsWith(borrowedSuffix) && name !== '')
    .map(([, name]) => name)
  return [...new Set(names)].slice(0, mostWords)
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
