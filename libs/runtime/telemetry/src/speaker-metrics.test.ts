import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { speakerMetrics, type SpeakerPeer } from './speaker-metrics.ts'

const established: SpeakerPeer = {
  ...{ address: '192.0.2.9', as: 65_001, state: 'established', flaps: 2, queuedBytes: 0 },
  ...{ received: { keepalive: 4 }, sent: { update: 3 }, wanted: 5, advertised: 3 },
  bfd: { state: 'up', remoteState: 'init', failures: 1, sent: 30, received: 20 },
}

/** Samples without help and types. */
async function samplesOf(registry: Registry): Promise<readonly string[]> {
  const page = await registry.metrics()
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

it('tells what is announced beside what is wanted, and how BFD is', async () => {
  const registry = new Registry()
  const bfd = { received: 20, dropped: 1, errors: 2, invalid: 3, unknown: 4 }
  speakerMetrics(registry, 'node-1', () => ({ peers: [established], problems: 7, bfd }))
  const samples = await samplesOf(registry)
  const ofPeer = 'node="node-1",peer="192.0.2.9",peer_asn="65001"'
  const watched = 'node="node-1",peer="192.0.2.9"'
  for (const sample of [
    `kube_ovn_speaker_routes_wanted{${ofPeer}} 5`,
    `kube_ovn_speaker_routes_advertised{${ofPeer}} 3`,
    `kube_ovn_speaker_bgp_peer_up{${ofPeer}} 1`,
    `kube_ovn_speaker_problems{node="node-1"} 7`,
    `kube_ovn_speaker_bfd_peer_up{${watched}} 1`,
    `kube_ovn_speaker_bfd_peer_session_state{${watched}} 1`,
    `kube_ovn_speaker_bfd_peer_remote_session_state{${watched}} 4`,
    `kube_ovn_speaker_bfd_peer_failure_transitions{${watched}} 1`,
    `kube_ovn_speaker_bfd_peer_transmitted_packets{${watched}} 30`,
    `kube_ovn_speaker_bfd_peer_received_packets{${watched}} 20`,
    'kube_ovn_speaker_bfd_server_received_packets{node="node-1"} 20',
    'kube_ovn_speaker_bfd_server_received_drop{node="node-1"} 1',
    'kube_ovn_speaker_bfd_server_received_error{node="node-1"} 2',
    'kube_ovn_speaker_bfd_server_invalid_packet{node="node-1"} 3',
    'kube_ovn_speaker_bfd_server_unknown_peer{node="node-1"} 4',
  ])
    expect(samples).toContain(sample)
})

it('tells nothing of BFD where it does not watch, and of no router that is configured no more', async () => {
  const registry = new Registry()
  let peers = [{ ...established, bfd: undefined }]
  speakerMetrics(registry, 'node-1', () => ({ peers, problems: 0, bfd: undefined }))
  const samples = await samplesOf(registry)
  expect(samples.filter((line) => line.includes('_bfd_'))).toEqual([])
  expect(samples.some((line) => line.includes('192.0.2.9'))).toBe(true)
  peers = []
  expect(await samplesOf(registry)).toEqual(['kube_ovn_speaker_problems{node="node-1"} 0'])
})
