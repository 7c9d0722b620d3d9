import { ipPoolResource, subnetResource } from '@kube-ovn/kube-api'
import { namespaces as namespaceResource } from '@kube-ovn/kube-api/core'
import { databaseTable, objectTable } from '@kube-ovn/reconcile'

export const namespaces = objectTable({ resource: namespaceResource })
export const subnets = objectTable({ resource: subnetResource })
export const ipPools = objectTable({ resource: ipPoolResource })

/** What others put into the Northbound counts as well. */
export const switches = databaseTable('Logical_Switch')
export const switchPorts = databaseTable('Logical_Switch_Port')
