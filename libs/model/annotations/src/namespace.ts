import { annotation, namesAnnotation, splitNames } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Namespace. The controller writes all of them. */
export const namespaceAnnotations = {
  /** Names of the Subnets in which Pods get addresses, tried in this order. */
  logicalSwitch: namesAnnotation(`${prefix}/logical_switch`),
  /** `spec.cidrBlock` of each of them. */
  cidr: annotation(`${prefix}/cidr`, splitGroups, (blocks) => blocks.join(';')),
  /** `spec.excludeIps` of each of them. */
  excludeIps: annotation(
    `${prefix}/exclude_ips`,
    (text) => splitGroups(text).map(splitNames),
    (groups: readonly (readonly string[])[]) => groups.map((group) => group.join(',')).join(';'),
  ),
  /** Names of the IPPools from which Pods get addresses, if there are any, tried in this order. */
  ipPool: namesAnnotation(`${prefix}/ip_pool`),
} as const

function splitGroups(text: string): readonly string[] {
  return text === '' ? [] : text.split(';')
}
