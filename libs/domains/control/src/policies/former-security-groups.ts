import { markedSecurityGroups } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '../world.ts'

/** Security groups that a port says it was in, as it is in the Northbound. */
export function formerSecurityGroups(
  port: string,
  { northbound }: Pick<ControlWorld, 'northbound'>,
): readonly string[] {
  const [row] = northbound.find('Logical_Switch_Port', 'name', port)
  return row === undefined ? [] : markedSecurityGroups(row.external_ids)
}
