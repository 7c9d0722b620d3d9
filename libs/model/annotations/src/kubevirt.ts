import { textAnnotation } from './annotation.ts'

/** Annotations that KubeVirt writes on the pods that run its machines. */
export const kubevirtAnnotations = {
  /** The machine is on its way into this pod: both have its addresses for a while. */
  migrationJobName: textAnnotation('kubevirt.io/migrationJobName'),
} as const
