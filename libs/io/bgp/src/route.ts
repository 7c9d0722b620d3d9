import type { Refused } from '@kube-ovn/errors'

/** A prefix that a peer is told, and what it is told of it. */
export interface Route {
  /** Without host bits, e.g. `10.16.0.5/32`. */
  readonly prefix: string
  readonly nextHop: string
  /** Whether the next hop may be an IPv6 address for an IPv4 prefix is up to the peer's capabilities. */
  readonly communities?: readonly string[] | undefined
  readonly largeCommunities?: readonly string[] | undefined
  /** Told to peers of the own AS alone, where it is 100 unless given. */
  readonly localPreference?: number | undefined
  readonly med?: number | undefined
}

/** Routes by prefix. */
export type Routes = ReadonlyMap<string, Route>

/** What is said with the routes of a peer, where there is more to it than these. */
export interface Wish {
  /** How many it is to know, whether or not there is a next hop; default is as many as are given. */
  readonly wanted?: number
  /** Why there are none, though some are wanted. */
  readonly problem?: Refused | undefined
}
