import { formatIp, type Ip } from '@kube-ovn/ip'
import type { AllocateRequest, Lease } from '@kube-ovn/ipam'
import { placeOf } from './foreign-ports.ts'
import type { AllocatingWorld } from '../world.ts'
import { storeIndex } from '../watched-kinds.ts'

/**
 * Allocates like IPAM, and draws no address that a node has as its own, as the subnet may have been there before the
 * node, nor one of a port that somebody else put on the switch.
 *
 * Addresses that are asked for are given all the same, as upstream does.
 *
 * @throws what IPAM throws; then nothing has changed
 */
export function allocateUnseen(request: AllocateRequest, world: AllocatingWorld): Lease {
  const { ipam } = world
  const before = ipam.lease(request.nic)
  const skip = new Set<Ip>(request.skip)
  let lease = ipam.allocate(request)
  for (;;) {
    const taken = drawn(lease, request).filter((ip) => isOfNode(ip, world) || isForeign(ip, lease, world))
    if (taken.length === 0 || world.attachments.get(lease.subnet)?.hasSwitch === false) return lease
    for (const ip of taken) skip.add(ip)
    try {
      lease = ipam.allocate({ ...request, skip })
    } catch (error) {
      if (before === undefined) ipam.release(request.nic, request.owner)
      throw error
    }
  }
}

function drawn({ v4, v6 }: Lease, { static: asked }: AllocateRequest): readonly Ip[] {
  return [v4, v6].filter((ip) => ip !== undefined && ip !== asked?.v4 && ip !== asked?.v6) as readonly Ip[]
}

function isOfNode(ip: Ip, { nodes }: AllocatingWorld): boolean {
  return nodes.find(storeIndex.nodesByAddress, formatIp(ip)).length > 0
}

function isForeign(ip: Ip, { subnet }: Lease, { foreignPorts }: AllocatingWorld): boolean {
  return foreignPorts.keys('address', placeOf(subnet, ip)).length > 0
}
