import { contains, formatIp, isIpv4, tryParseIp, type Ip } from '@kube-ovn/ip'
import { sharedAddresses } from '@kube-ovn/domains-control/addresses'
import { portsOn, readPortOptions } from '@kube-ovn/domains-control/pods'
import type { Prefixes } from '@kube-ovn/domains-control/topology'
import { type ControlWorld, storeIndex } from '@kube-ovn/domains-control'

/** The addresses of a subnet that its ports may take in turns. */
export interface SubnetVipSnapshot {
  readonly subnet: string
  readonly vips: readonly SubnetVip[]
}

interface SubnetVip {
  readonly address: string
  /** Ports that may take it. */
  readonly parents: readonly string[]
}

/** The subnet is there but can not be used at present: what it had before stays. */
export const unsettled = 'unsettled'

/** Reads `spec.vips` of a subnet, and which pods may take which of them. The conditions of a Subnet tell of a bad list. */
export function observeSubnetVips(
  subnet: string,
  world: ControlWorld,
): SubnetVipSnapshot | typeof unsettled | undefined {
  const object = world.subnets.get(subnet)
  if (object === undefined) return undefined
  const prefixes = world.prefixes.get(subnet)
  if (prefixes === undefined) return unsettled
  const vips = new Map<string, SubnetVip>()
  for (const text of object.spec?.vips ?? []) {
    const ip = tryParseIp(text)
    if (ip === undefined || !isInside(ip, prefixes)) return unsettled
    const address = formatIp(ip)
    vips.set(address, { address, parents: parentsOf(ip, subnet, world) })
  }
  return { subnet, vips: [...vips.values()] }
}

function isInside(ip: Ip, { cidrs }: Prefixes): boolean {
  const cidr = isIpv4(ip) ? cidrs.v4 : cidrs.v6
  return cidr !== undefined && contains(cidr, ip)
}

/** The ports on the subnet that may send from the address: it is one of theirs, or of a Vip that their pods share. */
function parentsOf(ip: Ip, subnet: string, world: ControlWorld): readonly string[] {
  const sharers = world.vips
    .find(storeIndex.vipsBySubnet, subnet)
    .flatMap(({ metadata }) => world.pods.find(storeIndex.podsBySharedVip, metadata.name))
  const owners = world.pods.find(storeIndex.podsByPortVip, formatIp(ip))
  const ports = [...new Set([...owners, ...sharers])].flatMap((pod) => {
    const { namespace = '', annotations } = pod.metadata
    const isShared = sharedAddresses(namespace, annotations, subnet, world).includes(ip)
    return portsOn(pod, subnet, world)
      .filter((nic) => isShared || readPortOptions(pod, nic).options.vips.includes(ip))
      .map(({ port }) => port)
  })
  return ports.sort()
}
