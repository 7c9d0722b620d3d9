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
}

const stateNumbers = {
  idle: 1,
  connect: 2,
  active: 3,
  'open-sent': 4,
  'open-confirm': 5,
  established: 6,
} as const satisfies Record<SpeakerPeer['state'], number>

/**
 * Metrics of sessions by BGP: names and labels are upstream's, but for `kube_ovn_speaker_routes_*` and `kube_ovn_speaker_problems`, which it does
 * not have. All are gauges, as there. They are read when somebody asks.
 */
export function speakerMetrics(
  registry: Registry,
  node: string,
  read: () => { readonly peers: readonly SpeakerPeer[]; readonly problems: number },
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
  new Gauge({
    ...{ name: 'kube_ovn_speaker_problems', registers: [registry], labelNames: ['node'] },
    help: 'Objects whose annotations about BGP nobody can make sense of. New.',
    collect() {
      this.set({ node }, read().problems)
    },
  })
}
