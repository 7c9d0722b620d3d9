import type { SecurityGroup } from '@kube-ovn/kube-api'
import { baselineSecurityGroup, denyAllSecurityGroup, uniqueGroupName } from '@kube-ovn/ovn-names'
import { groupTable, rowTable, type ViewOf } from '@kube-ovn/tables'
import { securityGroups } from '../sources.ts'
import { oldest } from './group-names.ts'

/** The name of the port group of each SecurityGroup. Of those that would have one name, the one that was there first has it. */
const securityGroupNames = groupTable({
  name: 'security-group-names',
  of: securityGroups,
  by: 'group',
  rows: (members, _views, name) => {
    const plain = oldest(members)
    return [...members].map(
      ([key, { metadata }]) =>
        [key, key === plain ? name : uniqueGroupName(name, metadata.uid ?? '')] as const,
    )
  },
})

/** What ports need to know of a SecurityGroup that they are in. */
export interface SecurityGroupPlace {
  /** Name of its port group. */
  readonly group: string
  /** It is of tier 1. */
  readonly isBaseline: boolean
}

/** The port groups of SecurityGroups, by the name of the object. */
export const securityGroupPlaces = rowTable({
  name: 'security-group-places',
  of: securityGroups,
  reads: { securityGroupNames },
  row: ({ spec }: SecurityGroup, { securityGroupNames }, key): SecurityGroupPlace | undefined => {
    const group = securityGroupNames.get(key)
    return group === undefined ? undefined : { group, isBaseline: spec?.tier === 1 }
  },
  indexes: { baseline: ({ isBaseline }: SecurityGroupPlace) => (isBaseline ? [''] : []) },
})

type BuiltInGroup = typeof denyAllSecurityGroup | typeof baselineSecurityGroup

interface PlaceViews {
  readonly securityGroupPlaces: ViewOf<typeof securityGroupPlaces>
}

/** The security groups of a port, as it says, of which there are some. */
export interface SecurityGroupsOfPort {
  /** Names of port groups. */
  readonly groups: readonly string[]
  /** Those of all ports that have any, by the names of their SecurityGroups, which nobody can make. */
  readonly builtIn: readonly BuiltInGroup[]
  /** Names of which there is no SecurityGroup. */
  readonly missing: readonly string[]
}

const onlyBaseline: readonly BuiltInGroup[] = [denyAllSecurityGroup, baselineSecurityGroup]

/**
 * Finds the port groups of a port.
 *
 * What none of its groups allows is dropped, once there is any of them. A port all of whose groups are of tier 1 goes past tier 2, where
 * it would be dropped before these are asked.
 *
 * @param names nothing where it can not be read which they are: then the port may do nothing
 */
export function securityGroupsOf(
  names: readonly string[] | undefined,
  { securityGroupPlaces }: PlaceViews,
): SecurityGroupsOfPort {
  if (names === undefined) return { groups: [], builtIn: [denyAllSecurityGroup], missing: [] }
  const found = names.map((name) => ({ name, place: securityGroupPlaces.get(name) }))
  const places = found.flatMap(({ place }) => (place === undefined ? [] : [place]))
  const isBaseline = places.every((place) => place.isBaseline)
  return {
    groups: places.map(({ group }) => group),
    builtIn: places.length === 0 ? [] : isBaseline ? onlyBaseline : [denyAllSecurityGroup],
    missing: found.flatMap(({ name, place }) => (place === undefined ? [name] : [])),
  }
}
