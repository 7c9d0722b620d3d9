import { conditionType, isConditionTrue } from './conditions.ts'
import type { Subnet, SubnetSpec } from './subnet.ts'

/** What of a Subnet is in effect, as far as nodes go by it. */
type InEffect = Pick<
  SubnetSpec,
  | 'cidrBlock'
  | 'gateway'
  | 'vpc'
  | 'provider'
  | 'natOutgoing'
  | 'mtu'
  | 'vlan'
  | 'logicalGateway'
  | 'u2oInterconnection'
>

/**
 * Reads what of a subnet is in effect, whatever its specification was edited to since.
 *
 * A status that upstream wrote does not say: then the specification is in effect if the controller has validated it. If
 * it has not, the answer is nothing: the prefix may be unreadable, or another's.
 */
export function readInEffect({ spec, status }: Subnet): InEffect | undefined {
  if (status?.inEffect !== undefined) return status.inEffect
  return isConditionTrue(status?.conditions, conditionType.validated) ? (spec ?? {}) : undefined
}
