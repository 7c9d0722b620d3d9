import { formatIp } from '@kube-ovn/ip'
import { ownerOf } from '@kube-ovn/ipam'
import { ipResource, subnetResource, type SubnetStatus } from '@kube-ovn/kube-api'
import {
  interconnectionName,
  interconnectionNodes,
  interconnectionPolicy,
  logicalRouter,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import {
  allocating,
  holdSubnetAddress,
  subnetAddressTriggers,
  type Allocation,
} from '@kube-ovn/domains-control/addresses'
import {
  subnetBegins,
  subnetSays,
  unusable,
  type Interconnect,
  type Network,
} from '@kube-ovn/domains-control/topology'
import { desiredInterconnection, type InterconnectionSnapshot } from './desired.ts'

/** Connects underlay subnets to the router of their VPC, beside the gateway of the physical network. */
export const subnetInterconnection: ControlFeature<
  string,
  InterconnectionSnapshot | typeof unusable,
  InterconnectionFacts | typeof unusable
> = {
  name: 'subnet-u2o',
  kinds: [interconnectionPolicy, interconnectionNodes],
  mayOwn: (subnet, { id }) => isNamedAfter(subnet, id),
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  rights: [
    { resource: ipResource, verbs: ['create', 'patch', 'delete'] },
    { resource: subnetResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [subnetBegins, subnetSays(saidOf), ...subnetAddressTriggers('router-port')],
  observe: observeInterconnection,
  allocate: (subnet, facts, world) =>
    allocating(world, ownerOf('router-port', subnet), (allocation) =>
      holdInterconnection(subnet, facts, allocation),
    ),
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredInterconnection(snapshot)
  },
}

interface InterconnectionFacts {
  /** Absent where there is no connection. */
  readonly connected: { readonly network: Network; readonly interconnect: Interconnect } | undefined
  readonly saysAddress: boolean
  /** The router's port is there, or comes with what the status says. */
  readonly isActive: boolean
  readonly nodes: readonly string[]
}

function saidOf(status: SubnetStatus): readonly (string | undefined)[] {
  return [status.u2oInterconnectionIP, status.u2oInterconnectionMAC, status.u2oInterconnectionVPC]
}

function observeInterconnection(subnet: string, world: ControlWorld): InterconnectionFacts | typeof unusable {
  const object = world.subnets.get(subnet)
  const attachment = world.attachments.get(subnet)
  const network = attachment?.isInterconnected === true ? world.networks.get(subnet) : undefined
  const interconnect = world.interconnects.get(subnet)
  const saysAddress = object !== undefined && saidOf(object.status ?? {}).some((text) => (text ?? '') !== '')
  if (network !== undefined) {
    if (interconnect === undefined || interconnect === unusable) return unusable
    const { v4 = [], v6 = [] } = world.addressesOfNodes.get('') ?? {}
    return {
      connected: { network, interconnect },
      saysAddress,
      isActive: world.interconnections.get(subnet) !== undefined,
      nodes: [...new Set([...v4, ...v6].map(({ ip }) => formatIp(ip)))],
    }
  }
  if (attachment === undefined && object !== undefined) return unusable
  return { connected: undefined, saysAddress, isActive: false, nodes: [] }
}

function holdInterconnection(
  subnet: string,
  facts: InterconnectionFacts | typeof unusable | undefined,
  allocation: Allocation,
): InterconnectionSnapshot | typeof unusable | undefined {
  if (facts === undefined || facts === unusable) return facts
  const { connected, saysAddress, isActive, nodes } = facts
  const nic = connected && interconnectionName(connected.network.vpc, subnet)
  const wish = connected?.interconnect.wish ?? {}
  const address = holdSubnetAddress({ kind: 'router-port', subnet, nic, wish }, allocation)
  if (connected === undefined && address.records.length === 0 && !saysAddress) return undefined
  return { subnet, connected, address, saysAddress, isActive, nodes }
}
