import { parseIpList } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { resolveSubnet } from '../topology/subnet-spec.ts'
import type { Network } from '../topology/network.ts'
import type { Attachment } from '../topology/attachments.ts'
import { controlSettings } from './settings.ts'

/** A network as a valid specification makes it. */
export function network(name: string, cidrBlock: string, spec: SubnetSpec = {}): Network {
  return resolveSubnet(name, { ...spec, cidrBlock }, controlSettings()).network
}

/** Where that network is plugged in, with a distributed gateway. */
export function attached(name: string, cidrBlock: string, spec: SubnetSpec = {}): Network & Attachment {
  const made = network(name, cidrBlock, spec)
  return { ...made, leavesByNode: made.isDefaultVpc, isServedByNode: false }
}

/** A lease of these addresses. */
export function lease(subnet: string, nic: string, addresses: string, mac = '00:00:5e:00:53:01'): Lease {
  const { v4, v6 } = parseIpList(addresses)
  return { nic, owner: `pod/${nic}`, uid: undefined, subnet, v4, v6, mac, isShared: undefined }
}
