import { databaseTable, factTable, objectTable } from '@kube-ovn/reconcile'
import type { View } from '@kube-ovn/tables'
import type { ControlSettings } from './settings.ts'
import { watched } from './watched.ts'

export const namespaces = objectTable(watched.namespaces)
export const pods = objectTable(watched.pods)
export const nodes = objectTable(watched.nodes)
export const subnets = objectTable(watched.subnets)
export const vpcs = objectTable(watched.vpcs)
export const vlans = objectTable(watched.vlans)
export const providerNetworks = objectTable(watched.providerNetworks)
export const ips = objectTable(watched.ips)
export const ipPools = objectTable(watched.ipPools)
export const vips = objectTable(watched.vips)
export const ovnEips = objectTable(watched.ovnEips)
export const securityGroups = objectTable(watched.securityGroups)
export const switchLbRules = objectTable(watched.switchLbRules)
export const routerLbRules = objectTable(watched.routerLbRules)
export const vpcDnses = objectTable(watched.vpcDnses)
export const configMaps = objectTable(watched.configMaps)
export const networkPolicies = objectTable(watched.networkPolicies)
export const multiNetworkPolicies = objectTable(watched.multiNetworkPolicies)
export const adminNetworkPolicies = objectTable(watched.adminNetworkPolicies)
export const baselineAdminNetworkPolicies = objectTable(watched.baselineAdminNetworkPolicies)
export const clusterNetworkPolicies = objectTable(watched.clusterNetworkPolicies)
export const dnsNameResolvers = objectTable(watched.dnsNameResolvers)
export const egressFirewalls = objectTable(watched.egressFirewalls)
export const statefulSets = objectTable(watched.statefulSets)
export const networkAttachments = objectTable(watched.networkAttachments)
export const machines = objectTable(watched.machines)
export const machineInstances = objectTable(watched.machineInstances)
export const machineMigrations = objectTable(watched.machineMigrations)

/** What others put into the Northbound counts as well. */
export const switches = databaseTable('Logical_Switch')
export const switchPorts = databaseTable('Logical_Switch_Port')
export const dhcpOptionRows = databaseTable('DHCP_Options')
export const routerPorts = databaseTable('Logical_Router_Port', 'name')

/** What the flags of the process decide, in one row. */
export const settingsTable = factTable({
  name: 'settings',
  indexes: { all: (_row: ControlSettings) => [''] },
})

/** The settings, for derivations. */
export function settingsOf(view: Pick<View<ControlSettings>, 'get'>): ControlSettings {
  const settings = view.get('')
  if (settings === undefined) throw new TypeError('nobody said what the settings are')
  return settings
}
