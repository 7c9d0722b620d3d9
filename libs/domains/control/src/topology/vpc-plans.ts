import { cidrText, contains, formatIp, overlaps, type Cidr } from '@kube-ovn/ip'
import { overlayCidrsAddressSetName, routerPortName } from '@kube-ovn/ovn-names'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { externalReads, externalsOf, type ExternalConnection } from './external-connections.ts'
import type { Layout } from './layouts.ts'
import { cidrsOf } from './network.ts'
import {
  supervisionOf,
  supervisionReads,
  type BfdPort,
  type BfdSession,
  type PlannedRoute,
} from './supervision.ts'
import { claimOf, type PolicyHop, type SharedClaim, type VpcPeering, type VpcProblem } from './vpc-spec.ts'
import { tenancies, vpcClaims } from './vpc-tenancy.ts'

/** What is made of a Vpc, beside all others. */
export interface VpcPlan extends Omit<SharedClaim, 'problems' | 'routes' | 'bfdPort'> {
  /** Those of the specification, and what BFD adds to them. */
  readonly routes: readonly PlannedRoute[]
  readonly sessions: readonly BfdSession[]
  readonly bfdPort: BfdPort | undefined
  /** Those that can be connected. */
  readonly peerings: readonly VpcPeering[]
  /** Connections to external subnets that can be made. */
  readonly externals: readonly ExternalConnection[]
  /** What of the specification is not carried out, or leads nowhere at present. */
  readonly problems: readonly VpcProblem[]
}

const reads = { ...externalReads, ...supervisionReads, vpcClaims, tenancies }

type Views = { readonly [N in keyof typeof reads]: ViewOf<(typeof reads)[N]> }

/** What is made of each Vpc. */
export const vpcPlans = rowTable({
  name: 'vpc-plans',
  of: vpcClaims,
  reads,
  row: ({ policies: _policies, policyHops, ...claim }, views): VpcPlan => {
    const own = routedOf(claim.name, views)
    const refused = claim.peerings.map((peering) => refusalOf(claim, peering, own))
    const peerings = claim.peerings.filter((_peering, place) => refused[place] === undefined)
    const outside = externalsOf(claim, own, peerings, views)
    const { externals } = outside
    const supervision = supervisionOf(claim, own, externals, views)
    return {
      ...claim,
      peerings,
      externals,
      routes: supervision.routes,
      sessions: supervision.sessions,
      bfdPort: supervision.port,
      problems: [
        ...claim.problems,
        ...refused.filter((problem) => problem !== undefined),
        ...peerings.flatMap((peering) => lackOf(claim, peering, own, views) ?? []),
        ...outside.problems,
        ...supervision.problems,
        ...strayHops([...claim.routes, ...policyHops], peerings, [...own, ...networksOf(externals, views)]),
        ...lostNamespaces(claim, views),
        ...strayDefault(claim, own),
      ],
    }
  },
  indexes: {
    addressSet: ({ name }: VpcPlan) => [overlayCidrsAddressSetName(name, 4)],
  },
})

/** The networks that the router of a VPC has a port on. */
function routedOf(vpc: string, { layouts }: Views): readonly Layout[] {
  return layouts.find('vpc', vpc).filter(({ isRouted }) => isRouted)
}

/** Of a default VPC that has yet to be created. */
export function emptyPlan(name: string): VpcPlan {
  const { policies: _policies, policyHops: _hops, ...claim } = claimOf({ metadata: { name } })
  return { ...claim, externals: [], routes: [], sessions: [], bfdPort: undefined }
}

function networksOf(externals: readonly ExternalConnection[], { layouts }: Views): readonly Layout[] {
  return externals.flatMap(({ subnet }) => layouts.get(subnet) ?? [])
}

/** Why a connection can not be made: the router would have one prefix, or one name, at two ports. */
function refusalOf(
  { name, peerings }: SharedClaim,
  { remote, networks: local, field }: VpcPeering,
  own: readonly Layout[],
): VpcProblem | undefined {
  const value = local.map(cidrText).join(',')
  const at = `${field}.localConnectIP`
  for (const cidr of local) {
    const subnet = own.find((network) => cidrsOf(network).some((other) => overlaps(cidr, other)))
    if (subnet !== undefined)
      return { field: at, value, cure: `choose a prefix that does not overlap subnet ${subnet.name}` }
    const earlier = peerings
      .slice(
        0,
        peerings.findIndex((peering) => peering.remote === remote),
      )
      .find((peering) => peering.networks.some((other) => overlaps(cidr, other)))
    if (earlier !== undefined)
      return { field: at, value, cure: `choose a prefix that does not overlap that of ${earlier.field}` }
  }
  const port = routerPortName(name, remote)
  const holder = own.find((network) => network.hasSwitch && routerPortName(name, network.name) === port)
  return (
    holder && {
      field: `${field}.remoteVpc`,
      value: remote,
      cure: `delete the subnet ${holder.name} first: its port of the router has the same name, ${port}`,
    }
  )
}

/** Why nothing passes a connection that is made, or not everything. */
function lackOf(
  { name }: SharedClaim,
  { remote, networks: local, field }: VpcPeering,
  own: readonly Layout[],
  views: Views,
): VpcProblem | undefined {
  const other = views.vpcClaims.get(remote)
  const problem = (cure: string): VpcProblem => ({ field: `${field}.remoteVpc`, value: remote, cure })
  if (other === undefined) return problem('create a Vpc of this name')
  const back = other.peerings.find((peering) => peering.remote === name)
  if (back === undefined) return problem(`list ${name} in spec.vpcPeerings of Vpc ${remote}, too`)
  const isLinked = local.every((cidr) =>
    back.networks.some(({ family, address }) => family === cidr.family && contains(cidr, address)),
  )
  if (!isLinked) {
    const theirs = back.networks.map(cidrText).join(',')
    const value = local.map(cidrText).join(',')
    return {
      field: `${field}.localConnectIP`,
      value,
      cure: `choose it in one prefix with ${theirs} of Vpc ${remote}`,
    }
  }
  const pair = overlapOf(own, routedOf(remote, views))
  return (
    pair && problem(`let the prefixes differ of subnets ${pair.join(' and ')}: they do not reach each other`)
  )
}

function overlapOf(own: readonly Layout[], others: readonly Layout[]): readonly [string, string] | undefined {
  for (const network of own)
    for (const other of others)
      if (cidrsOf(network).some((cidr) => cidrsOf(other).some((one) => overlaps(cidr, one))))
        return [network.name, other.name]
  return undefined
}

/** A router without networks reaches nobody, which is no mistake of a route. */
function strayHops(
  hops: readonly PolicyHop[],
  peerings: readonly VpcPeering[],
  own: readonly Layout[],
): readonly VpcProblem[] {
  if (own.length === 0) return []
  const reached: readonly Cidr[] = [
    ...own.flatMap(cidrsOf),
    ...peerings.flatMap((peering) => peering.networks),
  ]
  return hops
    .filter(({ nextHop }) => !reached.some((cidr) => contains(cidr, nextHop)))
    .map(({ field, nextHop }) => ({
      field: `${field}.nextHopIP`,
      value: formatIp(nextHop),
      cure: 'choose an address in a subnet of the VPC, in the prefix of a peering or in an external subnet: the router reaches no other',
    }))
}

function lostNamespaces({ name, namespaces }: SharedClaim, { tenancies }: Views): readonly VpcProblem[] {
  return namespaces.flatMap((namespace) => {
    const { vpc = name } = tenancies.get(namespace) ?? {}
    if (vpc === name) return []
    const cure = `take it out here or of Vpc ${vpc}, which is older and has it`
    return [{ field: 'spec.namespaces', value: namespace, cure }]
  })
}

function strayDefault({ defaultSubnet }: SharedClaim, own: readonly Layout[]): readonly VpcProblem[] {
  if (defaultSubnet === '' || own.length === 0 || own.some(({ name }) => name === defaultSubnet)) return []
  return [{ field: 'spec.defaultSubnet', value: defaultSubnet, cure: 'name a subnet of the VPC, or none' }]
}

/** Says what is wrong in one line, however much of it there is. */
export function vpcProblemsText(problems: readonly VpcProblem[]): string {
  const told = problems
    .slice(0, mostTold)
    .map(({ field, value, cure }) => `${field} ${JSON.stringify(value)}: ${cure}`)
  const others = problems.length - told.length
  return [...told, ...(others > 0 ? [`and ${others} more`] : [])].join('; ')
}

const mostTold = 5
