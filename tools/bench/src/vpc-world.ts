import type { Subnet, Vpc } from '@kube-ovn/kube-api'
import type { Namespace, Pod } from '@kube-ovn/kube-api/core'
import { namespace, pod, subnet, vpc } from '@kube-ovn/testing-builders'
import { numbers } from './numbers.ts'
import { namespaceName } from './policy-world.ts'

/** How much there is of what tenants have. The default VPC is one of the VPCs; it has all subnets that no tenant has. */
export interface VpcWorldSize {
  readonly vpcs: number
  readonly subnets: number
  readonly nodes: number
  readonly pods: number
  /** Of the tenant that has the most. */
  readonly policyRoutes: number
}

const subnetsOfTenant = 4
const routesOfTenant = 4
const rulesOfCrowded = 10

/** The subnet of the default VPC that half of all pods are in. */
export const crowded = subnetName(0)

/** The VPC with the most policy routes. */
export const busyTenant = tenantName(1)

export function tenants(size: VpcWorldSize): readonly Vpc[] {
  return numbers(1, size.vpcs).map((tenant) =>
    vpc({
      name: tenantName(tenant),
      namespaces: numbers(0, subnetsOfTenant).map((place) => namespaceName(subnetOf(tenant, place, size))),
      staticRoutes: numbers(0, routesOfTenant).map((index) => ({
        policy: 'policyDst',
        cidr: `192.168.${index}.0/24`,
        nextHopIP: `10.200.${index}.254`,
      })),
      policyRoutes: numbers(0, tenantName(tenant) === busyTenant ? size.policyRoutes : routesOfTenant).map(
        benchPolicyRoute,
      ),
    }),
  )
}

/** Each is about another source. */
export function benchPolicyRoute(
  index: number,
): NonNullable<NonNullable<Vpc['spec']>['policyRoutes']>[number] {
  return {
    priority: 1000 + (index % 1000),
    match: `ip4.src == 10.201.${index >> 8}.${index & 255} && ip4.dst == 172.20.0.0/16`,
    action: 'reroute',
    nextHopIP: `10.200.${index % subnetsOfTenant}.253`,
  }
}

/** Each subnet serves a namespace. Those of tenants have the same prefixes. */
export function subnets(size: VpcWorldSize): readonly Subnet[] {
  return numbers(0, size.subnets).map((index) => {
    const name = subnetName(index)
    const common = { name, namespaces: [namespaceName(index)], excludeIps: [] }
    const tenant = tenantOf(index, size)
    if (index === 0)
      return subnet({
        ...common,
        cidrBlock: '10.128.0.0/16,fd00:10:128::/112',
        natOutgoing: true,
        acls: crowdedRules(),
      })
    if (tenant === 0)
      return subnet({
        ...common,
        cidrBlock: `10.64.${index}.0/24,fd00:10:64:${index}::/112`,
        natOutgoing: true,
      })
    const place = (index - subnetsOfDefault(size)) % subnetsOfTenant
    const cidrBlock = `10.200.${place}.0/24,fd00:10:200:${place}::/112`
    const isolation =
      place === 0 ? { private: true, allowSubnets: ['10.200.0.0/16', 'fd00:10:200::/48'] } : {}
    return subnet({ ...common, ...isolation, vpc: tenantName(tenant), cidrBlock })
  })
}

/** Rules of the crowded subnet, the first of which lets in what comes to a port. */
export function crowdedRules(port = 8080): NonNullable<NonNullable<Subnet['spec']>['acls']> {
  return numbers(0, rulesOfCrowded).map((index) => ({
    direction: 'to-lport' as const,
    priority: 1000 + index,
    match: `ip4.src == 10.64.${index}.0/24 && tcp.dst == ${index === 0 ? port : 443}`,
    action: 'allow-related' as const,
  }))
}

export function tenantNamespaces(size: VpcWorldSize): readonly Namespace[] {
  return numbers(0, size.subnets).map((index) => namespace({ name: namespaceName(index) }))
}

export function tenantPods(size: VpcWorldSize): readonly Pod[] {
  return numbers(0, size.pods).map((index) => podOn(index, placeOf(index, size)))
}

/** A further pod of a subnet of the default VPC. */
export function podOnNode(index: number, subnetIndex: number, node: string): Pod {
  return podOn(index, { subnet: subnetIndex, node })
}

interface Place {
  readonly subnet: number
  readonly node: string
}

function podOn(index: number, { subnet: place, node }: Place): Pod {
  return pod({ name: `pod-${index}`, namespace: namespaceName(place), node })
}

/** Every other pod is in the crowded subnet, the rest in all others in turn. Those of one subnet are on many nodes. */
function placeOf(index: number, { subnets: count, nodes }: VpcWorldSize): Place {
  const turn = index >> 1
  return { subnet: index % 2 === 0 ? 0 : 1 + (turn % (count - 1)), node: `node-${turn % nodes}` }
}

/** How many pairs there are of a subnet of the default VPC and a node that has pods of it. */
export function occupiedPairs(size: VpcWorldSize): number {
  const places = numbers(0, size.pods).map((index) => placeOf(index, size))
  const ofDefault = places.filter(({ subnet: place }) => tenantOf(place, size) === 0)
  return new Set(ofDefault.map(({ subnet: place, node }) => `${place}/${node}`)).size
}

export function policyRoutesOfAll({ vpcs, policyRoutes }: VpcWorldSize): number {
  return policyRoutes + (vpcs - 2) * routesOfTenant
}

function subnetsOfDefault({ vpcs, subnets: count }: VpcWorldSize): number {
  return count - (vpcs - 1) * subnetsOfTenant
}

/** 0 for the default VPC. */
function tenantOf(index: number, size: VpcWorldSize): number {
  const own = subnetsOfDefault(size)
  return index < own ? 0 : 1 + Math.floor((index - own) / subnetsOfTenant)
}

function subnetOf(tenant: number, place: number, size: VpcWorldSize): number {
  return subnetsOfDefault(size) + (tenant - 1) * subnetsOfTenant + place
}

function tenantName(tenant: number): string {
  return `tenant-${tenant}`
}

function subnetName(index: number): string {
  return `subnet-${index}`
}
