import { externalId } from '../external-ids.ts'
import { preferLocalOption } from '../balancer-options.ts'
import { isServiceBalancerName, vpcOfBalancerGroup } from '../names.ts'
import type { RowKind } from '../row-kind.ts'
import { rowKind } from './declare.ts'

/** Serves Services of a VPC, by its name. Those of OvnDnatRules have no say about local backends. */
export const loadBalancer = rowKind({
  name: 'lb',
  table: 'Load_Balancer',
  shared: ['vips', 'health_check', 'ip_port_mappings'],
  composed: ['vips', 'ip_port_mappings'],
  identify: (row) => (row.options[preferLocalOption] === undefined ? undefined : row.name),
})

/** Serves one Service, by a name with slashes, which no name of upstream's has. */
export const serviceBalancer = rowKind({
  name: 'lb-of',
  table: 'Load_Balancer',
  shared: ['vips', 'health_check', 'ip_port_mappings'],
  composed: ['vips', 'ip_port_mappings'],
  identify: (row) => (isServiceBalancerName(row.name) ? row.name : undefined),
})

/** The load balancers of all Services of a VPC, by its name. */
export const balancerGroup: RowKind<'Load_Balancer_Group'> = {
  name: 'lb-group',
  table: 'Load_Balancer_Group',
  shared: ['load_balancer'],
  isUnmarked: true,
  identify: ({ name }) => (vpcOfBalancerGroup(name) === undefined ? undefined : name),
}

/** What is different on one chassis, by the name of the chassis: variables that load balancers refer to. */
export const chassisVariables = rowKind({
  name: 'chassis-vars',
  table: 'Chassis_Template_Var',
  shared: ['variables'],
  composed: ['variables'],
  identify: (row) => row.chassis,
})

/** How backends of an entry of a load balancer are asked whether they are well, by both names. Upstream leaves its vendor out. */
export const balancerHealthCheck: RowKind<'Load_Balancer_Health_Check'> = {
  name: 'lb-check',
  table: 'Load_Balancer_Health_Check',
  shared: [],
  parent: ['Load_Balancer', 'health_check'],
  identify: ({ vip, external_ids: ids }, parent) =>
    parent === undefined || ids[externalId.checkedSubnet] === undefined ? undefined : `${parent.name}/${vip}`,
}
