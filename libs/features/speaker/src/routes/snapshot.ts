import type { BgpPeer, Subnet, Vip } from '@kube-ovn/kube-api'
import type { Node, Pod, Service } from '@kube-ovn/kube-api/core'

/** What a speaker decides by. */
export interface SpeakerSnapshot {
  readonly subnets: Iterable<Subnet>
  /** Of all nodes. */
  readonly pods: Iterable<Pod>
  /** Empty where addresses of Services are not announced. */
  readonly services: Iterable<Service>
  readonly vips: Iterable<Vip>
  readonly nodes: Iterable<Node>
  /** Of all nodes; `undefined` while nobody knows how their sessions are doing. */
  readonly bgpPeers: Iterable<BgpPeer> | undefined
  /** The node that this speaker is on. */
  readonly nodeName: string
  /** Whether a Subnet that is `local` is announced in the place of its Pods as long as all of them are here. */
  readonly aggregates: boolean
}

/** An annotation that says nothing that can be done. */
export interface AnnouncementProblem {
  /** `Kind/name`, with the namespace before the name where there is one. */
  readonly object: string
  readonly field: string
  readonly value: string
  readonly cure: string
}

/** What is announced, and what nobody can make sense of. */
export interface Announced {
  /** Prefixes without host bits, in no order. */
  readonly prefixes: ReadonlySet<string>
  readonly problems: readonly AnnouncementProblem[]
}

/** A neighbour as far as routes go by it. */
export interface NeighborView {
  readonly address: string
  /** Own address towards it, which routes lead to; `undefined` where there is none, and nothing is announced. */
  readonly nextHop: string | undefined
  /** Whether it is told IPv4 routes over a session of IPv6. */
  readonly extendedNextHop: boolean
  /** What it is told of each route beside the way. */
  readonly attributes?: RouteAttributes | undefined
}

export interface RouteAttributes {
  readonly communities?: readonly string[] | undefined
  readonly largeCommunities?: readonly string[] | undefined
  readonly localPreference?: number | undefined
  readonly med?: number | undefined
}

export interface AnnouncedRoute extends RouteAttributes {
  readonly prefix: string
  readonly nextHop: string
}
