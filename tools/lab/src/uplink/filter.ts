import { overlaps, parseCidr } from '@kube-ovn/ip'

/** Addresses that labs take for themselves, and that their pods, Services, joins, VLANs and routers have. */
const ranges = {
  ip: ['10.172.0.0/16', '10.16.0.0/12', '10.96.0.0/12', '10.127.0.0/16', '10.128.0.0/12', '100.64.0.0/16'],
  ip6: ['fd00:172:30::/48', 'fd00:10::/32', 'fd00:100:64::/112'],
} as const

type NftFamily = keyof typeof ranges

/** A link by which packets leave the machine. */
export interface Uplink {
  readonly name: string
  /** The host's own networks on it, `ADDRESS/LENGTH`. */
  readonly networks: readonly string[]
}

/** What is looked for: the ranges of labs, but those that the host itself uses on an uplink and that therefore tell nothing. */
export function watchedRanges(uplinks: readonly Uplink[]): Readonly<Record<NftFamily, readonly string[]>> {
  const own = uplinks.flatMap(({ networks }) => networks).map((network) => parseCidr(network))
  const isFree = (range: string): boolean => {
    const cidr = parseCidr(range)
    return !own.some((network) => network.family === cidr.family && overlaps(network, cidr))
  }
  return { ip: ranges.ip.filter(isFree), ip6: ranges.ip6.filter(isFree) }
}

/** What is noted of a packet of a family, as nftables says it. */
const packets = {
  ip: {
    addresses: ['ip saddr', 'ip daddr'],
    protocol: 'meta l4proto',
    type: 'ipv4_addr . ipv4_addr . inet_proto',
  },
  ip6: {
    addresses: ['ip6 saddr', 'ip6 daddr'],
    protocol: 'meta l4proto',
    type: 'ipv6_addr . ipv6_addr . inet_proto',
  },
  arp: {
    addresses: ['arp saddr ip', 'arp daddr ip'],
    protocol: 'ether type',
    type: 'ipv4_addr . ipv4_addr . ether_type',
  },
} as const
type PacketFamily = keyof typeof packets

/**
 * Renders the nftables tables that note, without a word on what becomes of it, every packet that is about to leave by an uplink and comes
 * from a lab or is for one. Nothing has left that is not noted yet.
 *
 * - Family `inet` looks at what is routed before addresses are translated, so masquerading hides nothing.
 * - Family `netdev` looks at what is handed to the device, where bridging, raw sockets and ARP show, too.
 *
 * `flags owner` ties them to the process that made them: they go with that, however that ends.
 */
export function renderUplinkTables(name: string, uplinks: readonly Uplink[]): string {
  const links = `{ ${uplinks.map((uplink) => JSON.stringify(uplink.name)).join(', ')} }`
  const watched = watchedRanges(uplinks)
  const table = (family: string, hook: string, seen: readonly PacketFamily[], condition = ''): string => {
    const used = seen.filter((packet) => rangesOf(packet, watched).length > 0)
    const chain = [
      `type filter hook ${hook}; policy accept`,
      ...used.flatMap((packet) => renderRules(packet, rangesOf(packet, watched), condition)),
    ]
    const parts = ['flags owner', ...used.map(renderSet), `chain leaving { ${chain.join('; ')}; }`]
    // One line: that is how nft reads what is typed.
    return `table ${family} ${name} { ${parts.join('; ')}; }\n`
  }
  return [
    // Before srcnat, which is 100.
    table('inet', 'postrouting priority 90', ['ip', 'ip6'], `oifname ${links} `),
    table('netdev', `egress devices = ${links} priority 0`, ['ip', 'ip6', 'arp']),
  ].join('')
}

function rangesOf(packet: PacketFamily, watched: ReturnType<typeof watchedRanges>): readonly string[] {
  return watched[packet === 'arp' ? 'ip' : packet]
}

function renderSet(packet: PacketFamily): string {
  return `set ${packet}_seen { type ${packets[packet].type}; size 1000; flags dynamic; counter; }`
}

/** A packet is of a lab if either of its addresses is. */
function renderRules(packet: PacketFamily, ranges: readonly string[], condition: string): readonly string[] {
  const { addresses, protocol } = packets[packet]
  const noted = `add @${packet}_seen { ${[...addresses, protocol].join(' . ')} }`
  return addresses.map((address) => `${condition}${address} { ${ranges.join(', ')} } ${noted}`)
}

/** What `nft -j list table` prints, as far as it is read here. */
interface ListedTable {
  readonly nftables: readonly {
    readonly set?: { readonly name: string; readonly elem?: readonly ListedElement[] }
  }[]
}
interface ListedElement {
  readonly elem?: {
    readonly val?: { readonly concat?: readonly unknown[] }
    readonly counter?: { readonly packets?: number }
  }
}

/**
 * Reads what a table has noted: one line for each pair of addresses and protocol.
 *
 * @param where of the packets, e.g. `sent by the uplink`
 */
export function readNoted(json: string, where: string): readonly string[] {
  const { nftables } = JSON.parse(json) as ListedTable
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .map(({ elem }) => {
      const [source, target, protocol] = elem?.val?.concat ?? []
      return `${String(source)} > ${String(target)} ${String(protocol)}: ${elem?.counter?.packets ?? 0} packets ${where}`
    })
}
