import type { ConditionFacts } from '../sinks/node-object.ts'

/** What the node's readiness for pods depends on. */
export interface NodeStatusSnapshot {
  /** ovn-controller has installed the flows of ovn0, so OVN answers for the gateway. */
  readonly isInstalled: boolean
  /** Gateways of the join subnet. */
  readonly gateways: readonly string[]
}

/** Says whether pods may be placed on the node; the scheduler keeps them away while the network is unavailable. */
export function desiredCondition({ isInstalled, gateways }: NodeStatusSnapshot): ConditionFacts {
  const where = `gateway ip ${gateways.join(',')}`
  return isInstalled
    ? {
        type: 'NetworkUnavailable',
        status: 'False',
        reason: 'JoinSubnetGatewayReachable',
        message: `ovn0 is bound and its flows are installed, OVN answers for ${where}`,
      }
    : {
        type: 'NetworkUnavailable',
        status: 'True',
        reason: 'JoinSubnetGatewayUnreachable',
        message: `ovn-controller has not installed the flows of ovn0, nobody answers for ${where}`,
      }
}
