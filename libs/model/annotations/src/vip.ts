import { namesAnnotation, textAnnotation } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** Annotations by which users give Vips to a Pod. */
export const vipAnnotations = {
  /** Name of the Vip whose addresses and MAC address the Pod has as its own. */
  borrowed: textAnnotation(`${prefix}/vip`),
  /** Names of the Vips whose addresses the Pod may have beside its own: allowed address pairs. */
  shared: namesAnnotation(`${prefix}/aaps`),
} as const
