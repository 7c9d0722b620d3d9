import { textAnnotation } from './annotation.ts'

/** Annotations that KubeVirt writes on the pods that run its machines. */
export const kubevirtAnnotations = {
  /** Name of the move by which the machine came, or comes, into this pod: both pods have its addresses for a while. */
  migrationJobName: textAnnotation('kubevirt.io/migrationJobName'),
} as const

/** Labels that KubeVirt writes on the pods that run its machines. */
export const kubevirtLabel = {
  /** UID of the move by which the machine came, or comes, into this pod. */
  migrationJobUid: 'kubevirt.io/migrationJobUID',
} as const
