import type { Allocation } from '@kube-ovn/domains-control/addresses'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { ownersOfKey } from '@kube-ovn/domains-control/pods'

/**
 * Releases what the holder of a key has beyond the NICs that it is to have.
 *
 * Not before the last record is gone, the IP object as well as the port: whoever were given the address in between
 * would lose it in a restart, which takes every record for true.
 */
export function releaseOthers(key: string, wanted: ReadonlySet<string>, allocation: Allocation): void {
  const { world } = allocation
  for (const owner of ownersOfKey(key)) {
    for (const { nic } of [...world.ipam.leasesOf(owner)]) {
      if (wanted.has(nic) || isRecorded(nic, world)) continue
      allocation.release(nic, owner)
    }
  }
}

function isRecorded(nic: string, world: ControlWorld): boolean {
  return (
    world.ips.get(nic) !== undefined || world.northbound.find('Logical_Switch_Port', 'name', nic).length > 0
  )
}
