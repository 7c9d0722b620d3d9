import { formatIpList, parseCidrList, parseIp, parseIpList, type Ip } from '@kube-ovn/ip'
import { Ipam, type AllocateRequest, type Lease, type Owner, type SubnetChange } from '../index.ts'

/** Counts up, so that every MAC address of a test is known. */
export function countingRandom(): (bytes: number) => Uint8Array {
  let count = 0
  return (bytes) => Uint8Array.from({ length: bytes }, (_, index) => (index % 6 === 5 ? ++count : 0))
}

/** An allocator with the subnet `s`. */
export function ipamWith(cidr: string, gateway: string, excludeIps: readonly string[] = []): Ipam {
  const ipam = new Ipam(countingRandom())
  setSubnet(ipam, cidr, gateway, excludeIps)
  return ipam
}

export function setSubnet(
  ipam: Ipam,
  cidr: string,
  gateway: string,
  excludeIps: readonly string[] = [],
  name = 's',
): SubnetChange {
  const cidrs = cidr === '' ? {} : parseCidrList(cidr)
  const gateways = gateway === '' ? {} : parseIpList(gateway)
  return ipam.setSubnet({ name, cidrs, gateways, excludeIps })
}

/** Asks for a NIC whose owner has no other. */
export function ask(ipam: Ipam, nic: string, wishes: Partial<AllocateRequest> = {}): string {
  return text(ipam.allocate({ subnet: 's', nic, owner: `pod/ns/${nic}`, ...wishes }))
}

export function free(ipam: Ipam, nic: string, owner: Owner = `pod/ns/${nic}`): Lease | undefined {
  return ipam.release(nic, owner)
}

export function text(lease: Lease): string {
  return formatIpList({ v4: lease.v4, v6: lease.v6 })
}

export function ips(...texts: readonly string[]): ReadonlySet<Ip> {
  return new Set(texts.map((text) => parseIp(text)))
}
