import { databaseTable, objectTable } from '@kube-ovn/reconcile'
import { watched } from './watched.ts'

export const namespaces = objectTable(watched.namespaces)
export const nodes = objectTable(watched.nodes)
export const subnets = objectTable(watched.subnets)
export const ipPools = objectTable(watched.ipPools)
export const statefulSets = objectTable(watched.statefulSets)
export const networkAttachments = objectTable(watched.networkAttachments)
export const machines = objectTable(watched.machines)
export const machineInstances = objectTable(watched.machineInstances)
export const machineMigrations = objectTable(watched.machineMigrations)

/** What others put into the Northbound counts as well. */
export const switches = databaseTable('Logical_Switch')
export const switchPorts = databaseTable('Logical_Switch_Port')
