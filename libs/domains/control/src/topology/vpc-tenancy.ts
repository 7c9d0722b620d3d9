import { groupTable, rowTable } from '@kube-ovn/tables'
import type { ControlSettings } from '../settings.ts'
import { vpcs } from '../sources.ts'
import { claimOf, type VpcClaim } from './vpc-spec.ts'

/** What each Vpc asks for. A default VPC that has yet to be created asks for nothing. */
export const vpcClaims = rowTable({
  name: 'vpc-claims',
  of: vpcs,
  row: (vpc) => claimOf(vpc),
  indexes: {
    namespace: ({ namespaces, isExternal }: VpcClaim) => (isExternal ? [] : namespaces),
    remote: ({ peerings }: VpcClaim) => peerings.map(({ remote }) => remote),
  },
})

/** The VPC that a namespace belongs to: that of the oldest Vpc that lists it. */
export interface Tenancy {
  readonly vpc: string
  /** For pods of the namespace that no other Subnet serves; empty when the Vpc names none. */
  readonly defaultSubnet: string
}

/** Which namespaces belong to a VPC. All others are of the default one. */
export const tenancies = groupTable({
  name: 'tenancies',
  of: vpcClaims,
  by: 'namespace',
  rows: (members, _views, namespace): readonly (readonly [string, Tenancy])[] => {
    const [first] = [...members.values()].sort((a, b) => (a.age < b.age ? -1 : 1))
    return first === undefined ? [] : [[namespace, { vpc: first.name, defaultSubnet: first.defaultSubnet }]]
  },
})

export function isDefaultVpc(
  vpc: string,
  { clusterRouter }: Pick<ControlSettings, 'clusterRouter'>,
): boolean {
  return vpc === clusterRouter
}
