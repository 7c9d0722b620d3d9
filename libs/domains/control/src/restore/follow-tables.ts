import type { Follow } from '@kube-ovn/reconcile'
import type { AnyTable } from '@kube-ovn/tables'
import { opened } from '../addresses/free.ts'
import { waiterOf } from '../addresses/turns.ts'
import { addressing, gatewayMacs } from '../topology/attachments.ts'
import { pools } from '../topology/pool-claims.ts'
import type { AllocatingWorld } from '../world.ts'
import { restoreLeasesOf } from './leases.ts'

/**
 * Has the allocator give the addresses of the subnets and IPPools that are in effect, and no others: before anything is observed that
 * goes by them, here and in plans.
 */
export function followTables(
  follow: (table: AnyTable, follow: Follow) => void,
  world: AllocatingWorld,
): void {
  follow(addressing, (subnets) => followSubnets(subnets, world))
  follow(pools, (names) => followPools(names, world))
  follow(gatewayMacs, (subnets) => followGatewayMacs(subnets, world))
}

/** Gives the allocator, which is empty, all that there is at the start. */
export function takeTables(world: AllocatingWorld): void {
  const { addressing, pools, gatewayMacs, ipam, ipPools } = world
  for (const subnet of addressing.scan()) {
    ipam.setSubnet(subnet)
    ipam.setGatewayMac(subnet.name, gatewayMacs.get(subnet.name))
  }
  for (const { metadata } of ipPools.values()) {
    const pool = pools.get(metadata.name)
    if (pool !== undefined) ipam.setPool(pool.subnet, metadata.name, pool.ips)
  }
}

function followSubnets(names: ReadonlySet<string>, world: AllocatingWorld): void {
  const { ipam } = world
  const present = new Set<string>()
  for (const name of names) {
    const subnet = world.addressing.get(name)
    if (subnet === undefined) {
      ipam.removeSubnet(name)
      continue
    }
    present.add(name)
    const { lost } = ipam.setSubnet(subnet)
    // Pods whose addresses the subnet has no more go on with them, and are told, as are users who reserved some. Others take new ones.
    for (const { owner } of lost) {
      const waiter = waiterOf(owner)
      if (waiter !== undefined) world.waiters.wait(waiter, [name])
    }
  }
  // Before anybody draws: who lost addresses by an edit may go on with them, and the next edit may bring them back.
  restoreLeasesOf(present, world)
  for (const name of present) opened(name, world)
}

/** What one pool gives away another one may take. */
function followPools(names: ReadonlySet<string>, world: AllocatingWorld): void {
  const { ipam } = world
  const touched = new Set<string>()
  for (const name of names) {
    const subnet = ipam.subnetOfPool(name)
    if (subnet === undefined) continue
    ipam.removePool(subnet, name)
    touched.add(subnet)
  }
  for (const name of names) {
    const pool = world.pools.get(name)
    if (pool === undefined) continue
    ipam.setPool(pool.subnet, name, pool.ips)
    touched.add(pool.subnet)
  }
  for (const subnet of touched) opened(subnet, world)
}

/** Who waits for the MAC address that a port had which has another one by now, or is none of the subnet any more, has a turn. */
function followGatewayMacs(subnets: ReadonlySet<string>, world: AllocatingWorld): void {
  const { gatewayMacs, ipam } = world
  for (const subnet of subnets) {
    if (!ipam.hasSubnet(subnet)) continue
    const mac = gatewayMacs.get(subnet)
    const former = ipam.setGatewayMac(subnet, mac)
    if (former !== undefined && former !== mac) world.waiters.freed(subnet, { mac: former })
  }
}
