import { kubevirtAnnotations, kubevirtLabel } from '@kube-ovn/annotations'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { VirtualMachineInstanceMigration } from '@kube-ovn/kube-api'

/** Puts the pods of a machine into the order in which the machine is in them: the one that it moves into comes last. */
export function inTurn(pods: readonly Pod[]): readonly Pod[] {
  return pods.toSorted((a, b) => (turnOf(a) < turnOf(b) ? -1 : 1))
}

function turnOf(pod: Pod): string {
  const { name, creationTimestamp = '' } = pod.metadata
  return `${isTarget(pod) ? 1 : 0} ${creationTimestamp} ${name}`
}

/** Whether the machine is on its way into the pod, or came into it by a move. */
export function isTarget({ metadata: { annotations, labels } }: Pod): boolean {
  const job = kubevirtAnnotations.migrationJobName.read(annotations) ?? ''
  return job !== '' || labels?.[kubevirtLabel.migrationJobUid] !== undefined
}

/** Whether the pod was made for the move. */
export function isTargetOf(
  { metadata: { annotations, labels } }: Pod,
  { metadata: { name, uid } }: VirtualMachineInstanceMigration,
): boolean {
  const job = kubevirtAnnotations.migrationJobName.read(annotations)
  return job === name || (uid !== undefined && labels?.[kubevirtLabel.migrationJobUid] === uid)
}
