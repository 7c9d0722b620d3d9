/** A port of ours on the integration bridge and what its rows say about the pod behind it. */
export interface PodPort {
  readonly name: string
  readonly podNamespace: string
  readonly podName: string
  /** Empty on ports that upstream made. */
  readonly podUid: string
  /** What vswitchd says is wrong with the interface; empty if nothing is. */
  readonly error: string
}

/** Why a port should go. */
export type StaleReason = 'device is gone' | 'pod is gone' | 'pod was replaced'

/** A pod of this node; `uids` are all the identities that a runtime may know it by. */
export interface LocalPod {
  readonly uids: readonly string[]
}

/**
 * Says whether a port has nobody behind it any more.
 *
 * `pod` is the pod of that name on this node, `undefined` when there is none.
 */
export function staleReason(port: PodPort, pod: LocalPod | undefined): StaleReason | undefined {
  if (port.error.includes('No such device')) return 'device is gone'
  if (pod === undefined) return 'pod is gone'
  if (port.podUid !== '' && !pod.uids.includes(port.podUid)) return 'pod was replaced'
  return undefined
}
