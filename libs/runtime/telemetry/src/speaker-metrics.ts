import { Gauge, type Registry } from 'prom-client'

/** What a scrape shows of a neighbour. */
export interface SpeakerPeer {
  readonly address: string
  readonly as: number
  readonly state: 'idle' | 'connect' | 'active' | 'open-sent' | 'open-confirm' | 'established'
  readonly flaps: number
  readonly queuedBytes: number
  /** By type of message, as upstream names them. */
  readonly received: Readonly<Record<string, number>>
  readonly sent: Readonly<Record<string, number>>
  readonly wanted: number
  readonly advertised: number
  /** Absent: it is not watched by BFD. */
  readonly bfd: SpeakerBfd | undefined
}

/** What BFD says of a neighbour. */
interface SpeakerBfd {
  readonly state: BfdState
  readonly remoteState: BfdState
  readonly failures: number
  readonly sent: number
  readonly received: number
}

type BfdState = 'up' | 'down' | 'admin-down' | 'init'

/** What came to the port of BFD. */
interface SpeakerBfdTotals {
  readonly received: number
  readonly dropped: number
  readonly errors: number
  readonly invalid: number
  readonly unknown: number
}

const stateNumbers = {
  idle: 1,
  connect: 2,
  active: 3,
  'open-sent': 4,
  'open-confirm': 5,
  established: 6,
} as const satisfies Record<SpeakerPeer['state'], number>

const bfdStateNumbers = { up: 1, down: 2, 'admin-down': 3, init: 4 } as const satisfies Record<
  BfdState,
  number
>

/**
 * Metrics of sessions by BGP: names and labels are upstream's, but for `kube_ovn_speaker_routes_*` and `kube_ovn_speaker_problems`, which it does
 * not have. All are gauges, as there. They are read when somebody asks.
 */
export function speakerMetrics(
  registry: Registry,
  node: string,
  read: () => {
    readonly peers: readonly SpeakerPeer[]
    readonly problems: number
    readonly bfd: SpeakerBfdTotals | undefined
  },
): void {
  const gauge = (
    name: string,
    help: string,
    further: readonly string[],
    show: (
      peer: SpeakerPeer,
    ) => readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
  ): void => {
    new Gauge({
      ...{ name: `kube_ovn_speaker_${name}`, help, registers: [registry] },
      labelNames: ['node', 'peer', 'peer_asn', ...further].filter(
        (label) => !further.includes('type') || label !== 'peer_asn',
      ),
      collect() {
        this.reset()
        for (const peer of read().peers) {
          const asn = further.includes('type') ? {} : { peer_asn: String(peer.as) }
          for (const [labels, value] of show(peer))
            this.set({ node, peer: peer.address, ...asn, ...labels }, value)
        }
      },
    })
  }
  const one = (name: string, help: string, value: (peer: SpeakerPeer) => number): void =>
    gauge(name, help, [], (peer) => [[{}, value(peer)]])
  one('bgp_peer_up', '1 when the session is established.', ({ state }) => Number(state === 'established'))
  one(
    'bgp_peer_session_state',
    '1 idle, 2 connect, 3 active, 4 opensent, 5 openconfirm, 6 established.',
    ({ state }) => stateNumbers[state],
  )
  one('bgp_peer_flap_count', 'How often an established session has ended.', ({ flaps }) => flaps)
  one('bgp_peer_out_queue', 'Bytes that the neighbour has not taken yet.', ({ queuedBytes }) => queuedBytes)
  one('routes_wanted', 'Routes that the neighbour is to know. New.', ({ wanted }) => wanted)
  one('routes_advertised', 'Routes that the neighbour was told. New.', ({ advertised }) => advertised)
  gauge('bgp_peer_received_messages', 'Messages of the neighbour, by type.', ['type'], ({ received }) =>
    Object.entries(received).map(([type, count]) => [{ type }, count]),
  )
  gauge('bgp_peer_sent_messages', 'Messages to the neighbour, by type.', ['type'], ({ sent }) =>
    Object.entries(sent).map(([type, count]) => [{ type }, count]),
  )
  bfdMetrics(registry, node, read)
  new Gauge({
    ...{ name: 'kube_ovn_speaker_problems', registers: [registry], labelNames: ['node'] },
    help: 'Objects whose annotations about BGP nobody can make sense of. New.',
    collect() {
      this.set({ node }, read().problems)
    },
  })
}

function bfdMetrics(
  registry: Registry,
  node: string,
  read: () => { readonly peers: readonly SpeakerPeer[]; readonly bfd: SpeakerBfdTotals | undefined },
): void {
  const total = (name: string, help: string, value: (totals: SpeakerBfdTotals) => number): void => {
    new Gauge({
      ...{ name: `kube_ovn_speaker_bfd_server_${name}`, help, registers: [registry], labelNames: ['node'] },
      collect() {
        this.reset()
        const { bfd } = read()
        if (bfd !== undefined) this.set({ node }, value(bfd))
      },
    })
  }
  total('received_packets', 'Packets of BFD that sessions have taken.', ({ received }) => received)
  total('received_drop', 'Packets of BFD for another session than there is.', ({ dropped }) => dropped)
  total('received_error', 'Sockets for BFD that the kernel has refused.', ({ errors }) => errors)
  total('invalid_packet', 'What came to the port of BFD and is none.', ({ invalid }) => invalid)
  total('unknown_peer', 'Packets of BFD of nobody who is watched.', ({ unknown }) => unknown)
  const one = (name: string, help: string, value: (bfd: SpeakerBfd) => number): void => {
    new Gauge({
      ...{ name: `kube_ovn_speaker_bfd_peer_${name}`, help, registers: [registry] },
      labelNames: ['node', 'peer'],
      collect() {
        this.reset()
        for (const { address, bfd } of read().peers)
          if (bfd !== undefined) this.set({ node, peer: address }, value(bfd))
      },
    })
  }
  const states = '1 up, 2 down, 3 admin_down, 4 init.'
  one('up', '1 when the session of BFD is up.', ({ state }) => Number(state === 'up'))
  one('session_state', states, ({ state }) => bfdStateNumbers[state])
  one(
    'remote_session_state',
    `What the neighbour says: ${states}`,
    ({ remoteState }) => bfdStateNumbers[remoteState],
  )
  one('failure_transitions', 'How often the session was up and went down.', ({ failures }) => failures)
  one('transmitted_packets', 'Packets of BFD to the neighbour.', ({ sent }) => sent)
  one('received_packets', 'Packets of BFD of the neighbour.', ({ received }) => received)
}
