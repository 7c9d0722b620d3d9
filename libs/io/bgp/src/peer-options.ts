import type { Refused } from '@kube-ovn/errors'
import type { AddressFamily } from './address-family.ts'

/** Who is talked to, and how. */
export interface PeerOptions {
  readonly address: string
  readonly as: number
  readonly port: number
  /** Own end, from which is dialled. */
  readonly source?: string | undefined
  /** Waits for the peer to dial. */
  readonly isPassive: boolean
  readonly ttl: number
  readonly password?: string | undefined
  readonly families: readonly AddressFamily[]
  /** Whether IPv4 routes may have IPv6 next hops. */
  readonly extendedNextHop: boolean
  /** 0, or 3 to 65535; default is that of all. */
  readonly holdTimeS?: number | undefined
  /** Whether BFD watches it, where BFD is on; default is so. */
  readonly isWatched?: boolean | undefined
  /** Why it is not spoken with: its status says so, and nothing else of it is looked at. */
  readonly refused?: Refused | undefined
}

/** What holds for all peers. */
export interface OwnOptions {
  readonly as: number
  /** IPv4 address. */
  readonly identifier: string
  /** 0, or 3 to 65535. */
  readonly holdTimeS: number
  /** Absent: routes are gone with the connection. */
  readonly gracefulRestart?: GracefulRestartOptions | undefined
  /** Path of the network namespace to speak from; default is the one that this process is in. */
  readonly netns?: string | undefined
}

export interface GracefulRestartOptions {
  /** How long peers are asked to keep routes, 1 to 4095. */
  readonly timeS: number
  /** How long after a restart peers are told at the latest that they know all routes. */
  readonly deferralS: number
}
