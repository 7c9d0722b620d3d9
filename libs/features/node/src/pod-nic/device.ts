import type { DesiredAttachment } from './desired.ts'

/**
 * A type of interface that a pod may have: how it comes into being and goes. What it has in common with the others (addresses and routes in
 * the pod, the port of Open vSwitch) is made for all of them in one place.
 */
export interface PodDevice {
  /** Makes both ends, the pod's in the pod's namespace and still down. */
  create(wanted: DesiredAttachment): void
  /** Removes what is left of one; answers whether there was anything. */
  remove(hostName: string): boolean
  /** What differs at the host's end from what was made. */
  compare(hostName: string): readonly string[]
}
