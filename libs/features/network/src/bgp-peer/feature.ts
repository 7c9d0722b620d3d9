import { bgpPeerResource, type BgpPeer } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, Watch } from '@kube-ovn/domains-control'
import { silentNodes, speakers } from '@kube-ovn/domains-control/topology'
import { desiredStatus, type PeerSnapshot } from './desired.ts'

const peerWatch: Watch<BgpPeer> = { resource: bgpPeerResource, mayBeAbsent: true }

/** Says in BgpPeers what their speakers can not say: that there is no speaker any more, and that its node is silent. */
export const bgpPeer: ControlFeature<string, PeerSnapshot> = {
  name: 'bgp-peer',
  kinds: [],
  watches: [peerWatch],
  tables: [speakers, silentNodes],
  rights: [{ resource: bgpPeerResource, subresource: 'status', verbs: ['patch'] }],
  // One whose Pod is not known as a speaker's would contradict again and again.
  paceMs: 10_000,
  triggers: [{ on: 'object', resource: bgpPeerResource, keys: (change) => [change.key] }],
  observe(name, world) {
    const object = world.store(peerWatch).get(name)
    const node = object?.spec?.node
    if (object === undefined || node === undefined || object.metadata.deletionTimestamp !== undefined)
      return undefined
    return {
      object,
      hasSpeaker: world.table(speakers).find('node', node).length > 0,
      silentSinceMs: world.table(silentNodes).get(node),
      now: world.now(),
    }
  },
  desired: (_name, snapshot) => (snapshot === undefined ? nothing : desiredStatus(snapshot)),
}
