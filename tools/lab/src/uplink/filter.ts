import { overlaps, parseCidr } from '@kube-ovn/ip'

/** Addresses that labs take for themselves, and that their pods, Services, joins, VLANs and routers have. */
const ranges = {
  ip: ['172.30.0.0/16', '10.16.0.0/12', '10.96.0.0/12', '10.127.0.0/16', '10.128.0.0/12', '100.64.0.0/16'],
  ip6: ['fd00:172:30::/48', 'fd00:10::/32', 'fd00:100:64::/112'],
} as const

type NftFamily = keyof typeof ranges
const families: readonly NftFamily[] = ['ip', 'ip6']

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

/**
 * Renders the nftables table that notes, without a word on what becomes of it, every packet that is about to leave by an uplink and comes
 * from a lab or is for one. It looks before addresses are translated, so masquerading hides nothing.
 *
 * `flags owner` ties it to the process that made it: it goes with that, however that ends.
 */
export function renderUplinkTable(table: string, uplinks: readonly Uplink[]): string {
  const links = `{ ${uplinks.map(({ name }) => JSON.stringify(name)).join(', ')} }`
  const watched = watchedRanges(uplinks)
  const used = families.filter((family) => watched[family].length > 0)
  const sets = used.map((family) => {
    const type = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr'
    return `set ${family}_seen { type ${type} . ${type} . inet_proto; size 1000; flags dynamic; counter; }`
  })
  const rules = used.flatMap((family) =>
    ['saddr', 'daddr'].map((side) => {
      const inside = `{ ${watched[family].join(', ')} }`
      const packet = `{ ${family} saddr . ${family} daddr . meta l4proto }`
      return `oifname ${links} ${family} ${side} ${inside} add @${family}_seen ${packet}`
    }),
  )
  // Before srcnat, which is 100.
  const hook = 'type filter hook postrouting priority 90; policy accept'
  const chain = `chain leaving { ${[hook, ...rules].join('; ')}; }`
  // One line: that is how nft reads what is typed.
  return `table inet ${table} { ${['flags owner', ...sets, chain].join('; ')}; }\n`
}

/** Renders the expression of pcap-filter(7) for the same packets on the wire, where bridging and raw sockets show, too. */
export function renderCaptureFilter(uplinks: readonly Uplink[]): string {
  const watched = watchedRanges(uplinks)
  return families
    .flatMap((family) => watched[family])
    .map((range) => `net ${range}`)
    .join(' or ')
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

/** Reads what the table has noted: one line for each pair of addresses and protocol. */
export function readNoted(json: string): readonly string[] {
  const { nftables } = JSON.parse(json) as ListedTable
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .map(({ elem }) => {
      const [source, target, protocol] = elem?.val?.concat ?? []
      return `${String(source)} > ${String(target)} ${String(protocol)}: ${elem?.counter?.packets ?? 0} packets routed to the uplink`
    })
}
