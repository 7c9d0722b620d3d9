import { databaseTable } from '@kube-ovn/reconcile'

/** What others put into the Northbound counts as well. */
export const switches = databaseTable('Logical_Switch')
export const switchPorts = databaseTable('Logical_Switch_Port')
