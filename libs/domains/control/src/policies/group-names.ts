import type { KubeObject } from '@kube-ovn/kube'
import { isSecurityGroupPortGroup, nodePortGroupName, subnetNodePortGroupName } from '@kube-ovn/ovn-names'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'
import { layouts } from '../topology/layouts.ts'

/** Of objects whose groups would have one name, the one that was there first has it. */
export function oldest(members: ReadonlyMap<string, Pick<KubeObject, 'metadata'>>): string | undefined {
  return byAge(members)[0]?.[0]
}

/** The one that was there first comes first. */
export function byAge<T extends Pick<KubeObject, 'metadata'>>(
  members: ReadonlyMap<string, T>,
): readonly (readonly [key: string, object: T])[] {
  const rank = ([key, { metadata }]: readonly [string, T]): string =>
    `${metadata.creationTimestamp ?? ''} ${key}`
  return [...members].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/** Names that other features give to port groups of nodes. */
export const nodeGroups = rowTable({
  name: 'node-groups',
  of: nodes,
  row: ({ metadata }) => metadata.name,
  indexes: {
    group: (node: string) => [nodePortGroupName(node)],
    suffix: (node: string) => [subnetNodePortGroupName('', node)],
  },
})

/** The beginnings of names of port groups of subnets on nodes. */
export const subnetGroups = rowTable({
  name: 'subnet-groups',
  of: layouts,
  row: (_layout, _views, subnet) => subnet,
  indexes: { prefix: (subnet: string) => [subnetNodePortGroupName(subnet, '')] },
})

interface GroupNames {
  readonly nodeGroups: ViewOf<typeof nodeGroups>
  readonly subnetGroups: ViewOf<typeof subnetGroups>
}

/** Whether a group of somebody else may have the name: a user chooses names of policies and namespaces. */
export function isTaken(name: string, { nodeGroups, subnetGroups }: GroupNames): boolean {
  if (isSecurityGroupPortGroup(name) || nodeGroups.some('group', name)) return true
  const dots = [...name.matchAll(/\./g)].map(({ index }) => index)
  return dots.some(
    (dot) =>
      subnetGroups.some('prefix', name.slice(0, dot + 1)) && nodeGroups.some('suffix', name.slice(dot)),
  )
}
