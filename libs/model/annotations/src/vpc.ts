import { textAnnotation } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Vpc. */
export const vpcAnnotations = {
  /**
   * On the default Vpc: names the deletion of rows without an object that may go ahead, as the event about it says.
   * User.
   */
  deleteOrphans: textAnnotation(`${prefix}/delete_orphans`),
} as const

/** Whether a Vpc only tells of a router that somebody else made in OVN. */
export function isExternalVpc(labels: Readonly<Record<string, string>> = {}): boolean {
  return labels[`${prefix}/vpc_external`] === 'true'
}
