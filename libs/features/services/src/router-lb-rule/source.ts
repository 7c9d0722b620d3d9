import { externalGatewayLabel, serviceAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, parseCidr, type Ip } from '@kube-ovn/ip'
import { ovnEipType, type OvnEip, type RouterLbRule } from '@kube-ovn/kube-api'
import { routerPortName } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { addressesOfEip, subnetOfEip } from '@kube-ovn/domains-control/addresses'
import {
  LbRuleAddressError,
  LbRuleInvalidError,
  type RuleSource,
  type ServicePlan,
} from '@kube-ovn/domains-control/lb-rules'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'
import { isDefaultVpc, servicePrefixes } from '@kube-ovn/domains-control/topology'
import { RouterLbRuleUnconnectedError } from './errors.ts'
import { routerPlan } from './plan.ts'

export const source: RuleSource<RouterLbRule> = {
  kind: lbRuleKinds.router,
  annotation: serviceAnnotations.routerLbVip,
  // It is the OvnEip that says which there are.
  needs: 'some family',
  rules: (world) => world.routerLbRules,
  planOf,
  problemOf: (_plan, { spec = {} }, _decided, world) =>
    connectionProblem(spec.vpc ?? '', spec.ovnEip ?? '', world),
}

/**
 * Reads what a RouterLBRule asks for.
 *
 * @throws LbRuleAddressError, LbRuleInvalidError that name the field
 */
function planOf(rule: RouterLbRule, world: ControlWorld): ServicePlan {
  const { ovnEip = '', vpc = '', endpoints = [] } = rule.spec ?? {}
  const { addresses } = usableEip(ovnEip, vpc, world)
  checkVpc(vpc, world)
  const all = [addresses.v4, addresses.v6].filter((ip) => ip !== undefined)
  const vips = endpoints.length > 0 ? all : servedBySelectors(all, ovnEip, world)
  return routerPlan(rule, vips)
}

/** @throws LbRuleAddressError where there is no address that the router of the VPC could answer for */
function usableEip(name: string, vpc: string, world: ControlWorld) {
  const refuse = (cure: string): LbRuleAddressError =>
    new LbRuleAddressError({ field: 'spec.ovnEip', value: name, cure })
  if (name === '') throw refuse('name an OvnEip of an external subnet')
  const eip = world.ovnEips.get(name)
  if (eip === undefined || eip.metadata.deletionTimestamp !== undefined)
    throw refuse('create an OvnEip of this name, or name one that is there')
  const type = typeOf(eip)
  if (type === ovnEipType.nodePort)
    throw refuse(`name an OvnEip of type ${ovnEipType.nat}: this one is the port of a node`)
  const had = addressesOfEip(eip)
  if (had === undefined || eip.status?.ready !== true)
    throw refuse('see the conditions of the OvnEip: it has no addresses yet')
  if (type === ovnEipType.routerPort && name !== routerPortName(vpc, subnetOfEip(eip, world)))
    throw refuse(
      `name an OvnEip of type ${ovnEipType.nat}: this one is the port of the router of another VPC`,
    )
  return had
}

function typeOf({ spec, status }: OvnEip): string {
  return status?.type ?? spec?.type ?? ovnEipType.nat
}

/** @throws LbRuleInvalidError where the VPC has no router of ours */
function checkVpc(vpc: string, world: ControlWorld): void {
  const plan = world.vpcPlans.get(vpc)
  if (vpc !== '' && (isDefaultVpc(vpc, world.settings) || plan?.isExternal === false)) return
  const cure = vpc === '' ? 'name the Vpc of the backends' : 'create the Vpc, or name one that is there'
  throw new LbRuleInvalidError({ field: 'spec.vpc', value: vpc, cure })
}

/**
 * Those that a Service with a selector can have: Kubernetes makes slices of the families of its Services alone.
 *
 * @throws LbRuleInvalidError when there are none
 */
function servedBySelectors(vips: readonly Ip[], eip: string, world: ControlWorld): readonly Ip[] {
  const families = new Set(servicePrefixes(world).map((prefix) => parseCidr(prefix).family))
  const served = families.size === 0 ? vips : vips.filter((ip) => families.has(familyOf(ip)))
  if (served.length > 0) return served
  const cure =
    'write spec.endpoints, or name an OvnEip with an address of a family that Services of the cluster have'
  throw new LbRuleInvalidError({ field: 'spec.ovnEip', value: eip, cure })
}

/** Why nobody on the external subnet is told who has the address. */
function connectionProblem(vpc: string, name: string, world: ControlWorld): KubeOvnError | undefined {
  const eip = world.ovnEips.get(name)
  if (eip === undefined) return undefined
  const subnet = subnetOfEip(eip, world)
  const problem = (cure: string) => new RouterLbRuleUnconnectedError({ value: vpc, subnet, cure })
  const connection = world.vpcPlans.get(vpc)?.externals.find((one) => one.subnet === subnet)
  if (connection === undefined)
    return problem(
      `connect the Vpc to the subnet by enableExternal and extraExternalSubnets, or see why it is not in the conditions of the Vpc`,
    )
  if (world.ovnEips.get(connection.eip)?.status?.ready !== true)
    return problem(`see the conditions of the OvnEip ${connection.eip}: the router has no address there yet`)
  if (world.externalGateways.scan().length === 0)
    return problem(`label a node ${externalGatewayLabel}=true whose agent runs: there is no gateway node`)
  return undefined
}
