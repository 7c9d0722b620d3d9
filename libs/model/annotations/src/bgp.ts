import { annotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

/** Who tells routers of an address: every speaker, or the one of the node where the Pod is. */
export type BgpPolicy = 'cluster' | 'local'

/** The annotation of Pods, Subnets, Vips and Services about BGP. Users set it. */
export const bgpAnnotations = {
  /** `true` is `cluster`; an empty text is none. */
  policy: annotation('ovn.kubernetes.io/bgp', parsePolicy, (policy) => policy ?? ''),
} as const

function parsePolicy(text: string, field: string): BgpPolicy | undefined {
  if (text === '') return undefined
  if (text === 'true' || text === 'cluster') return 'cluster'
  if (text === 'local') return 'local'
  throw new AnnotationInvalidError({ field, value: text, cure: 'write true, cluster or local, or remove it' })
}
