import { parseIp, parseMac } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { flowOf, microflowOf, type TracedPacket } from './packet.ts'

const v4: Omit<TracedPacket, 'protocol'> = {
  inport: 'web.shop',
  sourceMac: parseMac('02:00:00:00:00:01'),
  source: parseIp('10.16.0.2'),
  destinationMac: parseMac('02:00:00:00:00:02'),
  destination: parseIp('10.16.0.3'),
}
const v6 = { ...v4, source: parseIp('fd00::2'), destination: parseIp('fd00::3') }
const ethernet = 'inport == "web.shop" && eth.src == 02:00:00:00:00:01 && eth.dst == 02:00:00:00:00:02'

describe('a packet in words', () => {
  it.each([
    [
      { ...v4, protocol: { kind: 'icmp' } },
      `${ethernet} && ip.ttl == 255 && ip4.src == 10.16.0.2 && ip4.dst == 10.16.0.3 && icmp4.type == 8`,
      'icmp,in_port=7,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_ttl=64,nw_src=10.16.0.2,nw_dst=10.16.0.3,icmp_type=8',
    ],
    [
      { ...v6, protocol: { kind: 'icmp' } },
      `${ethernet} && ip.ttl == 255 && ip6.src == fd00::2 && ip6.dst == fd00::3 && icmp6.type == 128`,
      'icmp6,in_port=7,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_ttl=64,ipv6_src=fd00::2,ipv6_dst=fd00::3,icmp_type=128',
    ],
    [
      { ...v4, protocol: { kind: 'tcp', port: 80 } },
      `${ethernet} && ip.ttl == 255 && ip4.src == 10.16.0.2 && ip4.dst == 10.16.0.3 && tcp.src == 30000 && tcp.dst == 80 && tcp.flags == 2`,
      'tcp,in_port=7,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_ttl=64,nw_src=10.16.0.2,nw_dst=10.16.0.3,tcp_src=1000,tcp_dst=80',
    ],
    [
      { ...v6, protocol: { kind: 'udp', port: 53 } },
      `${ethernet} && ip.ttl == 255 && ip6.src == fd00::2 && ip6.dst == fd00::3 && udp.src == 30000 && udp.dst == 53`,
      'udp6,in_port=7,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_ttl=64,ipv6_src=fd00::2,ipv6_dst=fd00::3,udp_src=1000,udp_dst=53',
    ],
    [
      { ...v4, protocol: { kind: 'arp', operation: 'request' } },
      `${ethernet} && arp.op == 1 && arp.sha == 02:00:00:00:00:01 && arp.tha == 00:00:00:00:00:00 && arp.spa == 10.16.0.2 && arp.tpa == 10.16.0.3`,
      'arp,in_port=7,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,arp_op=1,arp_sha=02:00:00:00:00:01,arp_tha=00:00:00:00:00:00,arp_spa=10.16.0.2,arp_tpa=10.16.0.3',
    ],
  ] as const)('%#', (packet, microflow, flow) => {
    expect(microflowOf(packet)).toBe(microflow)
    expect(flowOf(packet, 7)).toBe(flow)
  })

  it('keeps what is in the name of a port a name', () => {
    expect(microflowOf({ ...v4, inport: 'a" || 1', protocol: { kind: 'icmp' } })).toContain(
      String.raw`inport == "a\" || 1"`,
    )
  })
})
