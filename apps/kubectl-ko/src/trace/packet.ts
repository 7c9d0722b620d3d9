import { familyOf, formatIp, type Ip, type Mac } from '@kube-ovn/ip'
import type { TraceProtocol } from './request.ts'

/** A packet as it leaves a port. */
export interface TracedPacket {
  /** The logical port. */
  readonly inport: string
  readonly sourceMac: Mac
  readonly source: Ip
  readonly destinationMac: Mac
  readonly destination: Ip
  readonly protocol: TraceProtocol
}

/** The packet in the words of ovn-trace(8). */
export function microflowOf({
  inport,
  sourceMac,
  source,
  destinationMac,
  destination,
  protocol,
}: TracedPacket): string {
  const ip = `ip${familyOf(destination)}`
  const ethernet = [
    `inport == ${JSON.stringify(inport)}`,
    `eth.src == ${sourceMac}`,
    `eth.dst == ${destinationMac}`,
  ]
  const [from, to] = [formatIp(source), formatIp(destination)]
  if (protocol.kind === 'arp') {
    return [
      ...ethernet,
      `arp.op == ${protocol.operation === 'request' ? 1 : 2}`,
      `arp.sha == ${sourceMac}`,
      `arp.tha == ${protocol.operation === 'request' ? '00:00:00:00:00:00' : destinationMac}`,
      `arp.spa == ${from}`,
      `arp.tpa == ${to}`,
    ].join(' && ')
  }
  return [
    ...ethernet,
    'ip.ttl == 255',
    `${ip}.src == ${from}`,
    `${ip}.dst == ${to}`,
    ...transportOf(protocol, familyOf(destination)),
  ].join(' && ')
}

function transportOf(protocol: Exclude<TraceProtocol, { kind: 'arp' }>, family: 4 | 6): readonly string[] {
  if (protocol.kind === 'icmp') return family === 4 ? ['icmp4.type == 8'] : ['icmp6.type == 128']
  const ports = [`${protocol.kind}.src == 30000`, `${protocol.kind}.dst == ${protocol.port}`]
  // A connection begins with SYN.
  return protocol.kind === 'tcp' ? [...ports, 'tcp.flags == 2'] : ports
}

/** The packet in the words of ovs-fields(7), for ofproto/trace. */
export function flowOf(packet: TracedPacket, inPort: number): string {
  const { sourceMac, destinationMac, protocol } = packet
  const [from, to] = [formatIp(packet.source), formatIp(packet.destination)]
  const ethernet = [`in_port=${inPort}`, `dl_src=${sourceMac}`, `dl_dst=${destinationMac}`]
  if (protocol.kind === 'arp') {
    const isRequest = protocol.operation === 'request'
    return [
      'arp',
      ...ethernet,
      `arp_op=${isRequest ? 1 : 2}`,
      `arp_sha=${sourceMac}`,
      `arp_tha=${isRequest ? '00:00:00:00:00:00' : destinationMac}`,
      `arp_spa=${from}`,
      `arp_tpa=${to}`,
    ].join(',')
  }
  const isV6 = familyOf(packet.destination) === 6
  const addresses = isV6 ? [`ipv6_src=${from}`, `ipv6_dst=${to}`] : [`nw_src=${from}`, `nw_dst=${to}`]
  const name = `${protocol.kind}${isV6 ? '6' : ''}`
  const transport =
    protocol.kind === 'icmp'
      ? [`icmp_type=${isV6 ? 128 : 8}`]
      : [`${protocol.kind}_src=1000`, `${protocol.kind}_dst=${protocol.port}`]
  return [name, ...ethernet, 'nw_ttl=64', ...addresses, ...transport].join(',')
}
