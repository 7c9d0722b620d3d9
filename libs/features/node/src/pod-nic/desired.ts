import { cidrOf, contains, networkText, parseIp, tryParseCidr, tryParseIp } from '@kube-ovn/ip'
import type { RouteRequest } from '@kube-ovn/netlink'
import { podPortName, vendor } from '@kube-ovn/ovn-names'
import { sysctlsOfForwarder } from '../forwarding/sysctls.ts'
import type { AttachmentSnapshot, PodAddress } from './snapshot.ts'

/** Keys of `Interface.external_ids` of a pod's port. The first block is upstream's, the second ours. */
export const attachmentId = {
  ifaceId: 'iface-id',
  vendor: 'vendor',
  podName: 'pod_name',
  podNamespace: 'pod_namespace',
  podNetns: 'pod_netns',
  ip: 'ip',

  podUid: 'pod_uid',
  containerId: 'container_id',
  ifName: 'if_name',
  network: 'cni_network',
} as const

/** How a pod's interface has to look, in Open vSwitch, in the host's and in the pod's namespace. */
export interface DesiredAttachment {
  readonly hostName: string
  readonly ifName: string
  readonly netns: string
  readonly mac: string
  readonly mtu: number
  /** Addresses with prefix length. */
  readonly addresses: readonly string[]
  /** Without the index of the device, in the order in which they have to be made. */
  readonly routes: readonly RouteRequest[]
  readonly disablesTxChecksumOffload: boolean
  /** Settings of the namespace, below `net.`, that the pod needs and could not write itself. */
  readonly sysctls: readonly { readonly key: string; readonly value: string }[]
  readonly externalIds: Readonly<Record<string, string>>
}

const defaultDestination = { 4: '0.0.0.0/0', 6: '::/0' } as const

/** RT_SCOPE_LINK of linux/rtnetlink.h. */
const scopeLink = 253

export function desiredAttachment(snapshot: AttachmentSnapshot): DesiredAttachment {
  const { request, addresses } = snapshot
  const ips = addresses.map((address) => address.ip).join(',')
  return {
    hostName: snapshot.hostName,
    ifName: request.ifName,
    netns: request.netns,
    mac: snapshot.mac,
    mtu: snapshot.mtu,
    addresses: addresses.map((address) => `${address.ip}/${address.prefixLength}`),
    routes: desiredRoutes(snapshot),
    disablesTxChecksumOffload: snapshot.hasUserspaceDatapath,
    sysctls: snapshot.forwards === true ? sysctlsOfForwarder : [],
    externalIds: {
      [attachmentId.ifaceId]: podPortName(request.podNamespace, snapshot.holder, snapshot.provider),
      [attachmentId.vendor]: vendor,
      [attachmentId.podName]: snapshot.holder,
      [attachmentId.podNamespace]: request.podNamespace,
      [attachmentId.podNetns]: request.netns,
      ...(ips === '' ? {} : { [attachmentId.ip]: ips }),
      ...(request.podUid === '' ? {} : { [attachmentId.podUid]: request.podUid }),
      [attachmentId.containerId]: request.containerId,
      [attachmentId.ifName]: request.ifName,
      [attachmentId.network]: request.network,
    },
  }
}

/**
 * Default routes first, then those of the network configuration, then those that the Pod asks for. What cannot be read in the configuration is
 * left out, as upstream does.
 */
function desiredRoutes(snapshot: AttachmentSnapshot): readonly RouteRequest[] {
  const routes: RouteRequest[] = []
  if (snapshot.ownsDefaultRoute) {
    for (const address of snapshot.addresses) {
      if (address.gateway === undefined) continue
      const family = address.gateway.includes(':') ? 6 : 4
      routes.push({
        destination: defaultDestination[family],
        ...byGateway(address.gateway, snapshot.addresses),
      })
    }
  }
  for (const { dst, gw } of [...snapshot.request.routes, ...snapshot.routes]) {
    const gateway = tryParseIp(gw) === undefined ? undefined : gw
    const isV6 = (dst === '' ? gw : dst).includes(':')
    const cidr = tryParseCidr(dst === '' && gateway !== undefined ? defaultDestination[isV6 ? 6 : 4] : dst)
    if (cidr === undefined || (gw !== '' && gateway === undefined)) continue
    const way =
      gateway === undefined ? (isV6 ? {} : { scope: scopeLink }) : byGateway(gateway, snapshot.addresses)
    routes.push({ destination: networkText(cidr), ...way })
  }
  return routes
}

/** A gateway outside the pod's prefixes is on the link all the same: OVN answers for it. */
function byGateway(gateway: string, addresses: readonly PodAddress[]): { gateway: string; onlink?: true } {
  const ip = parseIp(gateway)
  const isCovered = addresses.some((address) =>
    contains(cidrOf(parseIp(address.ip), address.prefixLength), ip),
  )
  return isCovered ? { gateway } : { gateway, onlink: true }
}
