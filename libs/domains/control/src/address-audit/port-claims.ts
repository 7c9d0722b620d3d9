import { ownerOf } from '@kube-ovn/ipam'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { readAddresses } from '../addresses/recorded.ts'
import type { Holding } from '../restore/holding.ts'
import { portHolding } from '../restore/leases.ts'
import type { ControlWorld } from '../world.ts'

type Port = OvnNorthbound['Logical_Switch_Port']

/**
 * Gives what ports on the switches of subnets send from, whoever made them.
 *
 * A port without addresses of its own (of a router, of a physical network) claims none, and is given all the same.
 */
export function* portClaims(world: ControlWorld): Generator<Holding, void, undefined> {
  for (const { name: subnet, ports } of world.northbound.scan('Logical_Switch')) {
    if (world.attachments.get(subnet) === undefined) continue
    for (const uuid of ports) {
      const port = world.northbound.get('Logical_Switch_Port', uuid)
      if (port !== undefined) yield* claimsOf(port, subnet, world)
    }
  }
}

function* claimsOf(port: Port, subnet: string, world: ControlWorld): Generator<Holding, void, undefined> {
  const known = portHolding(port, world)
  if (known !== undefined) {
    yield { ...known, subnet }
    return
  }
  // A port of a node, whose name is that of its NIC, or of somebody else.
  const owner = world.ipam.lease(port.name)?.owner ?? ownerOf('port', port.name)
  const base = { source: 'logical switch port', nic: port.name, owner, subnet, addresses: {} } as const
  if (port.addresses.length === 0) yield base
  for (const text of port.addresses) {
    const [mac, ...ips] = text.split(' ')
    yield { ...base, ...readAddresses(ips, mac) }
  }
}
