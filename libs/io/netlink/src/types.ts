/**
 * The vocabulary of this library: what the kernel reports about links, addresses, routes, rules and neighbours, and
 * what can be asked of it.
 *
 * Addresses are text in canonical form (`10.16.0.5`, `fd00:10:16::5`), prefixes `ADDRESS/LENGTH`, MACs lower case with
 * colons. A default route's destination is `0.0.0.0/0` or `::/0`. Tables, protocols, scopes and metrics are the kernel's
 * numbers; `routeTable`, `routeProtocol` and `routeScope` name the well-known ones.
 */

export type Family = 'ipv4' | 'ipv6'

/** Says which network namespace: a path such as `/run/netns/blue` or `/proc/42/ns/net`, or an open descriptor of one. */
export type NamespaceReference = string | number

/** Counts since the link was made. */
export interface LinkStatistics {
  readonly rxPackets: number
  readonly txPackets: number
  readonly rxBytes: number
  readonly txBytes: number
  readonly rxErrors: number
  readonly txErrors: number
  readonly rxDropped: number
  readonly txDropped: number
}

/** IF_OPER_* of RFC 2863. */
export type OperationalState =
  'unknown' | 'notpresent' | 'down' | 'lowerlayerdown' | 'testing' | 'dormant' | 'up'

export interface LinkInfo {
  readonly index: number
  readonly name: string
  /** What `ip -d link` prints below the link (`veth`, `bridge`, `tun`); absent for physical devices and loopback. */
  readonly kind?: string
  /** ARPHRD_* of linux/if_arp.h: 1 is Ethernet, 772 loopback. */
  readonly hardwareType: number
  readonly mtu: number
  /** Absent on links without a hardware address of six bytes, such as tun devices. */
  readonly mac?: string
  /** The permanent address of the device, where the driver knows one. */
  readonly permanentMac?: string
  /** IFF_* of linux/if.h. */
  readonly flags: number
  /** IFF_UP: somebody wants it up. */
  readonly isUp: boolean
  /** IFF_LOWER_UP: it has a carrier. */
  readonly hasCarrier: boolean
  readonly operationalState: OperationalState
  readonly txQueueLength: number
  readonly alias?: string
  /** Index of the bridge, bond or VRF this link is enslaved to. */
  readonly masterIndex?: number
  /** IFLA_LINK: of a veth its peer, of a VLAN or macvlan its parent. An index in the namespace `linkNetnsId`, if that is given. */
  readonly linkIndex?: number
  /** Tag of the frames of a VLAN (802.1Q); absent for other links, and for service tags (802.1ad). */
  readonly vlanId?: number
  /** Id, local to this namespace, of the namespace that `linkIndex` counts in; absent if it is this one. */
  readonly linkNetnsId?: number
  readonly altNames: readonly string[]
  readonly statistics?: LinkStatistics
}

export interface VethRequest {
  readonly name: string
  readonly mtu?: number
  readonly mac?: string
  readonly alias?: string
  readonly txQueueLength?: number
  /** Whether this end is up from the start. The kernel refuses that for the peer, which is brought up where it is. */
  readonly up?: boolean
  readonly peer: {
    readonly name: string
    /** Where the peer is made, directly: it is never seen in this namespace. Default: this namespace. */
    readonly netns?: NamespaceReference
    readonly mtu?: number
    readonly mac?: string
    readonly txQueueLength?: number
  }
}

export interface BridgeRequest {
  readonly name: string
  readonly mtu?: number
  readonly mac?: string
  readonly up?: boolean
}

/** A VLAN sub-interface (802.1Q) of a parent link. */
export interface VlanRequest {
  readonly name: string
  readonly parentIndex: number
  /** 1 to 4094. */
  readonly vlanId: number
  readonly mtu?: number
  readonly mac?: string
  readonly up?: boolean
}

/** What is absent stays as it is. */
export interface LinkChange {
  /** Renaming a link that is up needs Linux 6.2 or newer. */
  readonly name?: string
  readonly up?: boolean
  /** Whether neighbours are asked for their MAC addresses; if not, every frame is sent to the link's own. */
  readonly arp?: boolean
  readonly mtu?: number
  readonly mac?: string
  /** The empty string removes it. */
  readonly alias?: string
  readonly txQueueLength?: number
  /** Moves the link; it loses its addresses and routes, and may get another index there. */
  readonly netns?: NamespaceReference
  /** Index of the new master; 0 releases the link. */
  readonly masterIndex?: number
}

export interface AddressInfo {
  readonly family: Family
  readonly index: number
  /** The local address with its prefix length. */
  readonly cidr: string
  /** The other end of a point-to-point link, if it differs from the local address. */
  readonly peer?: string
  readonly broadcast?: string
  readonly scope: number
  readonly label?: string
  /** IFA_F_* of linux/if_addr.h. */
  readonly flags: number
  /** Duplicate address detection has not finished: the address cannot be bound yet. */
  readonly isTentative: boolean
  /** Duplicate address detection found another owner. */
  readonly isDuplicate: boolean
  readonly isPermanent: boolean
}

export interface AddressRequest {
  /** Skips IPv6 duplicate address detection, so that the address is usable at once. */
  readonly noDad?: boolean
  /** Adds no route for the prefix. */
  readonly noPrefixRoute?: boolean
  /** Default: global, except for loopback and link-local addresses. */
  readonly scope?: number
  readonly broadcast?: string
}

export type RouteType =
  | 'unicast'
  | 'local'
  | 'broadcast'
  | 'anycast'
  | 'multicast'
  | 'blackhole'
  | 'unreachable'
  | 'prohibit'
  | 'throw'

/** One of several ways of a route. */
export interface NextHop {
  readonly gateway?: string
  readonly index?: number
  /** 1 to 256, default 1. */
  readonly weight?: number
  readonly onlink?: boolean
}

/**
 * A route as it can be asked for. What the kernel reports (`Route`) is a valid request: `removeRoute(route)` removes
 * exactly the one that was listed.
 */
export interface RouteRequest {
  readonly destination: string
  readonly gateway?: string
  readonly index?: number
  /** Preferred source address of packets that this host sends. */
  readonly source?: string
  /** Default: link for an IPv4 route without gateway, host for local ones, else global. */
  readonly scope?: number
  /** Who made it. Default: `routeProtocol.static`. */
  readonly protocol?: number
  /** Priority; the lowest wins. Default: 0 for IPv4, 1024 for IPv6, where the kernel takes 0 as the default too. */
  readonly metric?: number
  /** Default: `routeTable.main`. */
  readonly table?: number
  readonly type?: RouteType
  /** Trusts that the gateway is on the link, though no prefix says so. */
  readonly onlink?: boolean
  readonly mtu?: number
  /** Instead of `gateway` and `index`: equal-cost ways. */
  readonly nextHops?: readonly NextHop[]
}

export interface Route extends RouteRequest {
  readonly family: Family
  readonly scope: number
  readonly protocol: number
  readonly metric: number
  readonly table: number
  readonly type: RouteType
}

/** What is absent is not filtered by. */
export interface RouteFilter {
  readonly table?: number
  readonly index?: number
  readonly family?: Family
  readonly protocol?: number
}

export type RuleAction = 'lookup' | 'goto' | 'nop' | 'blackhole' | 'unreachable' | 'prohibit'

/** A policy routing rule, ip-rule(8). */
export interface RuleRequest {
  readonly family: Family
  /** The lowest is asked first. Always given, so that a rule has an identity. */
  readonly priority: number
  readonly from?: string
  readonly to?: string
  readonly inputInterface?: string
  readonly outputInterface?: string
  readonly mark?: number
  /** Default: all bits. */
  readonly markMask?: number
  /** Inverts the selector. */
  readonly not?: boolean
  /** Default: `lookup`. */
  readonly action?: RuleAction
  readonly table?: number
  readonly protocol?: number
}

export interface Rule extends RuleRequest {
  readonly action: RuleAction
  readonly table: number
  readonly protocol: number
}

export type NeighbourState =
  'none' | 'incomplete' | 'reachable' | 'stale' | 'delay' | 'probe' | 'failed' | 'noarp' | 'permanent'

export interface NeighbourInfo {
  readonly family: Family
  readonly index: number
  readonly address: string
  readonly mac?: string
  readonly state: NeighbourState
  /** This host answers for the address. */
  readonly isProxy: boolean
}

export interface NeighbourRequest {
  readonly index: number
  readonly address: string
  /** Required unless `isProxy`. */
  readonly mac?: string
  /** Default: permanent. */
  readonly state?: NeighbourState
  readonly isProxy?: boolean
}

/** The features of a device that the userspace data path cares about, as ethtool(8) -k names them. */
export interface OffloadState {
  /** tx-checksumming. */
  readonly txChecksum: boolean
  /** rx-checksumming. */
  readonly rxChecksum: boolean
  /** scatter-gather. */
  readonly scatterGather: boolean
  /** tcp-segmentation-offload. */
  readonly tcpSegmentation: boolean
  readonly genericSegmentation: boolean
  readonly genericReceive: boolean
}

/** What to be told about. */
export interface WatchSelection {
  readonly links?: boolean
  readonly addresses?: boolean
  readonly routes?: boolean
  readonly rules?: boolean
  readonly neighbours?: boolean
}

export interface WatchOptions {
  /** Whether the watch keeps the process alive. Default: no. */
  readonly ref?: boolean
  /** Memory for events that were not read yet; more than fit are dropped and reported as `resync`. Default: 4 MiB. */
  readonly receiveBufferBytes?: number
}

/**
 * Says what changed. `resync` means that the kernel dropped events because the reader was too slow: read everything anew.
 */
export type NetlinkEvent =
  | { readonly kind: 'link'; readonly change: 'set' | 'removed'; readonly link: LinkInfo }
  | { readonly kind: 'address'; readonly change: 'set' | 'removed'; readonly address: AddressInfo }
  | { readonly kind: 'route'; readonly change: 'set' | 'removed'; readonly route: Route }
  | { readonly kind: 'rule'; readonly change: 'set' | 'removed'; readonly rule: Rule }
  | { readonly kind: 'neighbour'; readonly change: 'set' | 'removed'; readonly neighbour: NeighbourInfo }
  | { readonly kind: 'resync' }

export interface NetlinkOptions {
  /** Path of the network namespace to talk to. Default: the one this process is in. */
  readonly netns?: string
  /**
   * Refuses a request in the kernel's place, which does not get it: answers the errno's name, e.g. `ENOBUFS`.
   *
   * What a refusal leads to can be tested so; most of them can not be brought about otherwise.
   */
  readonly refuse?: (request: RequestName) => string | undefined
}

/** What is attempted, as in the details of a `NetlinkError`. */
export interface RequestName {
  /** In ip(8)'s words: `link add`, `route replace`, `address list`. */
  readonly operation: string
  /** The name of the link, the destination of the route. */
  readonly subject: string
}

/** Tells of changes, until disposed. */
export interface Watch extends Disposable {
  /** Tells the listener now of what the kernel has told by now, which the event loop would come to later. */
  takeArrived(): void
}

/**
 * Is a routing socket in one network namespace.
 *
 * Every method is synchronous (about 0.1 ms), starts no process, and throws a `NetlinkError` that carries the kernel's
 * own words. Removing what is not there is not an error.
 */
export interface Netlink extends Disposable {
  links(): LinkInfo[]
  /** Yields `undefined` if there is no such link. */
  link(nameOrIndex: string | number): LinkInfo | undefined
  /** Makes both ends and returns this one. Throws `LinkExistsError` if a name is taken. */
  createVeth(request: VethRequest): LinkInfo
  createBridge(request: BridgeRequest): LinkInfo
  createVlan(request: VlanRequest): LinkInfo
  changeLink(index: number, change: LinkChange): void
  removeLink(index: number): void

  addresses(index?: number): AddressInfo[]
  /** Adds the address; its being there already is fine. */
  addAddress(index: number, cidr: string, options?: AddressRequest): void
  removeAddress(index: number, cidr: string): void

  routes(filter?: RouteFilter): Route[]
  /** Adds the route, or replaces the one with the same destination, metric and table. */
  replaceRoute(route: RouteRequest): void
  removeRoute(route: RouteRequest): void

  rules(family?: Family): Rule[]
  /** Adds the rule unless an identical one is there. */
  addRule(rule: RuleRequest): void
  removeRule(rule: RuleRequest): void

  neighbours(index?: number): NeighbourInfo[]
  replaceNeighbour(neighbour: NeighbourRequest): void
  /**
   * Has the kernel look for a neighbour, by ARP or NDP, as if there was a packet for it: three questions, a second apart. What becomes of it
   * is an event: `reachable`, or `failed`. One that is known is left as it is.
   */
  resolveNeighbour(index: number, address: string): void
  removeNeighbour(index: number, address: string, options?: { readonly isProxy?: boolean }): void

  /** Yields `undefined` if there is no such link. */
  offload(name: string): OffloadState | undefined
  /**
   * Does what `ethtool -K NAME tx off` does, TCP segmentation included. Needed on every NIC that Open vSwitch's userspace
   * data path reads from: it does not complete partial checksums. Returns whether anything had to change.
   */
  disableTxChecksumOffload(name: string): boolean

  /**
   * Sends Ethernet frames by a link, unchanged, in the namespace of this socket. A link that is down drops nothing silently:
   * it is an error (ENETDOWN).
   */
  sendFrames(index: number, frames: readonly Buffer[]): void

  /**
   * Tells the listener of every change, until disposed. It costs no thread, and keeps the process alive only with
   * `ref: true`.
   */
  watch(selection: WatchSelection, listener: (event: NetlinkEvent) => void, options?: WatchOptions): Watch
}
