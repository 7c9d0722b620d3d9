/** What can be asked of a field of a packet. */
export interface Field {
  /** Bits; 0 of one that is the name of a port. */
  readonly width: number
  /** A nominal field has names rather than amounts: it is only tested for being equal. A boolean one says yes or no. */
  readonly level: 'nominal' | 'boolean' | 'ordinal'
  /** It stands for an expression. */
  readonly isPredicate: boolean
}

function entries(
  names: string,
  width: number,
  level: Field['level'],
  isPredicate = false,
): [string, Field][] {
  return names.split(' ').map((name) => [name, { width, level, isPredicate }])
}

function numbered(prefix: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`).join(' ')
}

/**
 * The fields and predicates that OVN 25.03 and newer know.
 *
 * @see ovn_init_symtab of lib/logical-fields.c; a field is ordinal where OVS can match any of its bits (lib/meta-flow.h)
 */
export const fields: ReadonlyMap<string, Field> = new Map([
  ...entries('inport outport', 0, 'nominal'),
  ...entries(numbered('xxreg', 2), 128, 'ordinal'),
  ...entries(numbered('xreg', 5), 64, 'ordinal'),
  ...entries(numbered('reg', 10), 32, 'ordinal'),
  ...entries(
    'flags ct_mark ct_state ip4.src ip4.dst arp.spa arp.tpa rarp.spa rarp.tpa pkt.mark',
    32,
    'ordinal',
  ),
  ...entries('flags.loopback ct_mark.blocked ct_mark.natted eth.mcast', 1, 'ordinal'),
  ...entries('ct.trk ct.new ct.est ct.rel ct.rpl ct.inv ct.snat ct.dnat', 1, 'ordinal'),
  ...entries('ct_label ip6.src ip6.dst nd.target', 128, 'ordinal'),
  ...entries('eth.src eth.dst arp.sha arp.tha rarp.sha rarp.tha nd.sll nd.tll', 48, 'ordinal'),
  ...entries('ct_label.label', 32, 'ordinal'),
  ...entries('vlan.tci tcp.src tcp.dst udp.src udp.dst sctp.src sctp.dst', 16, 'ordinal'),
  ...entries('ip6.label', 20, 'ordinal'),
  ...entries('vlan.vid tcp.flags', 12, 'ordinal'),
  ...entries('vlan.pcp', 3, 'ordinal'),
  ...entries('ip.frag', 2, 'ordinal'),
  ...entries('eth.type arp.op rarp.op', 16, 'nominal'),
  ...entries('ip.proto ip.ttl icmp4.type icmp4.code icmp6.type icmp6.code', 8, 'nominal'),
  ...entries('ip.dscp', 6, 'nominal'),
  ...entries('ip.ecn', 2, 'nominal'),
  ...entries('eth.bcast eth.mcastv6 vlan.present ip4.src_mcast ip4.mcast', 1, 'boolean', true),
  ...entries('ip6.mcast ip6.mcast_rsvd ip6.mcast_all_nodes ip6.mcast_all_rtrs', 1, 'boolean', true),
  ...entries('ip6.mcast_sol_node ip6.mcast_flood', 1, 'boolean', true),
  ...entries('ip.is_frag ip.later_frag ip.first_frag', 1, 'boolean', true),
  ...entries('ip4 ip6 ip icmp4 icmp6 icmp igmp arp rarp tcp udp sctp', 1, 'nominal', true),
  ...entries('nd nd_ns nd_ns_mcast nd_na nd_rs nd_ra mldv1 mldv2', 1, 'nominal', true),
])
