import type { WatchedPeerStatus } from '@kube-ovn/bgp'

const noMessages = {
  ...{ open: 0, update: 0, keepalive: 0, notification: 0, refresh: 0 },
  ...{ withdrawUpdate: 0, withdrawPrefix: 0, discarded: 0, total: 0 },
} as const

/** A router that there is no session with. */
export function idlePeer(more: Partial<WatchedPeerStatus> = {}): WatchedPeerStatus {
  return {
    ...{ address: '192.0.2.9', as: 65_001, state: 'idle', sinceMs: 0, flaps: 0, lastEnd: undefined },
    ...{ agreement: undefined, localAddress: undefined, wanted: 0, advertised: 0, untellable: 0 },
    heard: { ipv4: 0, ipv6: 0, isBeyondBound: false },
    ...{ queuedBytes: 0, sent: noMessages, received: noMessages, bfd: undefined },
    ...{ problem: undefined, identifierProblem: undefined },
    ...more,
  }
}

/** A router that there is a session with. */
export function establishedPeer(more: Partial<WatchedPeerStatus> = {}): WatchedPeerStatus {
  return idlePeer({
    ...{ state: 'established', localAddress: '192.0.2.1' },
    agreement: {
      ...{ identifier: '192.0.2.9', holdTimeS: 9, families: ['ipv4'] },
      ...{ hasFourOctetAs: true, hasExtendedNextHop: false },
      ...{ takesRouteRefresh: true, restartsGracefully: false },
    },
    ...more,
  })
}
