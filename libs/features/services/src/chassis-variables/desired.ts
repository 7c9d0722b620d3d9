import { chassisVariables } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds } from '@kube-ovn/domains-control'

export interface VariablesSnapshot {
  /** By which OVN knows the node. */
  readonly chassis: string
}

/**
 * Computes the row that has the variables of a node's chassis. Those are put into it by who needs them.
 *
 * @see ovn-nb(5), Chassis_Template_Var
 */
export function desiredVariables({ chassis }: VariablesSnapshot): Desired {
  const columns = { chassis, external_ids: externalIds({}) }
  return { ...nothing, rows: [{ kind: chassisVariables, id: chassis, columns }] }
}
