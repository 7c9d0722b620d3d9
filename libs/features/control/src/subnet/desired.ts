import {
  externalId,
  logicalRouter,
  logicalSwitch,
  routerPolicyPriority,
  routerPortName,
  subnetPolicy,
  subnetRouterPort,
  switchRouterPort,
  switchRouterPortName,
} from '@kube-ovn/ovn-names'
import { ipDestination, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Member, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '../rows.ts'
import { familiesOf } from '../topology/network.ts'
import type { Network } from '../topology/network.ts'
import { desiredObjects, finalizerRemoval } from './objects.ts'
import { subnetEvents } from './conditions.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/**
 * Computes the switch of a subnet, its port to the router, and the policy that keeps traffic for it inside.
 *
 * A subnet that can not be used keeps the rows it has: an invalid edit takes no running pod off the network.
 *
 * @see ovn-nb(5), Logical_Switch, Logical_Router_Port, Logical_Router_Policy
 */
export function desiredSubnet(subnet: SubnetSnapshot): Desired {
  if (subnet.isDeleting && subnet.holders.length === 0)
    return { ...nothing, patches: finalizerRemoval(subnet) }
  const objects = desiredObjects(subnet)
  const events = subnetEvents(subnet)
  if (subnet.network === undefined) {
    const { problem } = subnet
    return { ...nothing, hold: true, patches: objects, events, ...(problem === undefined ? {} : { problem }) }
  }
  if (!subnet.network.hasSwitch) return { ...nothing, patches: objects, events }
  return { ...nothing, ...desiredRows(subnet.network, subnet.routerMac), patches: objects, events }
}

function desiredRows(
  network: Network,
  routerMac: string,
): { readonly rows: OwnedRow[]; readonly members: Member[] } {
  const { name, vpc } = network
  const routerPort = routerPortName(vpc, name)
  const switchPort = switchRouterPortName(name, vpc)
  const families = familiesOf(network)
  const policies = families.map(({ family, cidr }) => ({
    id: `${name}/${family}`,
    match: printMatch(ipDestination(cidr)),
  }))
  return {
    rows: [
      { kind: logicalSwitch, id: name, columns: { name, external_ids: externalIds({}) } },
      {
        kind: switchRouterPort,
        id: switchPort,
        columns: {
          name: switchPort,
          type: 'router',
          addresses: ['router'],
          options: { 'router-port': routerPort },
          external_ids: externalIds({ [externalId.logicalSwitch]: name }),
        },
      },
      {
        kind: subnetRouterPort,
        id: routerPort,
        columns: {
          name: routerPort,
          mac: routerMac,
          networks: families.map(({ routerAddress }) => routerAddress),
          external_ids: externalIds({ [externalId.logicalRouter]: vpc }),
        },
      },
      ...policies.map(({ id, match }) => ({
        kind: subnetPolicy,
        id,
        columns: {
          priority: routerPolicyPriority.subnetDestination,
          match,
          action: 'allow',
          external_ids: externalIds({ [externalId.subnet]: name }),
        },
      })),
    ],
    members: [
      memberOf(ref(logicalSwitch, name), 'ports', ref(switchRouterPort, switchPort)),
      memberOf(ref(logicalRouter, vpc), 'ports', ref(subnetRouterPort, routerPort)),
      ...policies.map(({ id }) => memberOf(ref(logicalRouter, vpc), 'policies', ref(subnetPolicy, id))),
    ],
  }
}
