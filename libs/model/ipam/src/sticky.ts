import { ordinalOf } from './address-list.ts'

/** A StatefulSet as it is at present. */
export interface StatefulSetFacts {
  readonly uid: string
  readonly isDeleting: boolean
  /** `spec.ordinals.start` */
  readonly start: number
  readonly replicas: number
}

/**
 * Whether a member of a StatefulSet keeps its addresses although its pod is gone.
 *
 * It does as long as the set will make a pod of that name again. Whoever asks has to know the set for certain: one that
 * could not be looked up is not one that is gone.
 *
 * @param setUid the set that the pod named as its owner
 * @param set the set of that name, if there is one
 */
export function isMemberKept(podName: string, setUid: string, set: StatefulSetFacts | undefined): boolean {
  if (set === undefined || set.isDeleting || set.uid !== setUid) return false
  const ordinal = ordinalOf(podName)
  return ordinal !== undefined && ordinal >= set.start && ordinal < set.start + set.replicas
}

/** A KubeVirt machine as it is at present; what is absent does not exist. */
export interface MachineFacts {
  readonly instance?: { readonly isAlive: boolean; readonly isDeleting: boolean } | undefined
  readonly machine?: { readonly isDeleting: boolean } | undefined
}

/**
 * Whether a KubeVirt machine keeps its addresses although the pod that ran it is gone.
 *
 * A machine that is stopped or on the move does. An instance that belongs to no machine is over once it is deleted.
 */
export function isMachineKept({ instance, machine }: MachineFacts): boolean {
  if (machine !== undefined) return !machine.isDeleting || instance?.isAlive === true
  return instance !== undefined && instance.isAlive && !instance.isDeleting
}
