import { chassisVariables, nodeAddressVariable } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, ref } from '@kube-ovn/domains-control'

export interface VariablesSnapshot {
  /** By which OVN knows the node. */
  readonly chassis: string
  /** The first one of each family that node ports are asked at; none where OVN does not lead who asks them. */
  readonly addresses: readonly { readonly family: 4 | 6; readonly address: string }[]
}

/**
 * Computes the row that has the variables of a node's chassis: the addresses of the node, if wanted. Others are put into it by who needs them.
 *
 * @see ovn-nb(5), Chassis_Template_Var
 */
export function desiredVariables({ chassis, addresses }: VariablesSnapshot): Desired {
  const columns = { chassis, external_ids: externalIds({}) }
  const members = addresses.map(({ family, address }) => ({
    ...{ of: ref(chassisVariables, chassis), column: 'variables' },
    ...{ key: nodeAddressVariable(family), value: address },
  }))
  return { ...nothing, rows: [{ kind: chassisVariables, id: chassis, columns }], members }
}
