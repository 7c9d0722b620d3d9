import { nodes } from '@kube-ovn/kube'
import { bgpPeerResource, type BgpPeerStatus } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { describe, expect, it } from 'vitest'
import { own, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const merge = 'application/merge-patch+json'

describe.skipIf(missing)(`A node that is drained${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()

  function drain(unschedulable: boolean | null): Promise<unknown> {
    return node.api.client.patch(nodes, { name: 'node-1' }, merge, { spec: { unschedulable } })
  }

  /** What the other speaker says of its session. */
  function say(isUp: boolean): Promise<unknown> {
    const status: BgpPeerStatus = {
      state: isUp ? 'Established' : 'Active',
      conditions: [
        { type: 'Established', status: isUp ? 'True' : 'False', reason: 'Connecting', message: '' },
      ],
    }
    return node.api.client.patch(
      bgpPeerResource,
      { name: 'other' },
      merge,
      { status },
      { subresource: 'status' },
    )
  }

  it('leaves what any can announce to others as long as a router listens to one of them', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'cluster')
    await node.createPod('here', 'node-1', '10.16.0.5', 'local')
    await node.createOtherSpeaker()
    await node.api.client.create(bgpPeerResource, {
      metadata: { name: 'other' },
      spec: { node: 'node-2', neighbor: '192.0.2.9' },
    })
    await say(true)
    node.start()
    const all = { '10.16.0.0/16': own.ipv4, '10.16.0.5/32': own.ipv4 }
    const ofItself = { '10.16.0.5/32': own.ipv4 }
    await expect.poll(() => node.told()).toEqual(all)
    await drain(true)
    await expect.poll(() => node.told()).toEqual(ofItself)
    await say(false)
    await expect.poll(() => node.told()).toEqual(all)
    await say(true)
    await expect.poll(() => node.told()).toEqual(ofItself)
    // Of sessions of a speaker that tells of none nobody knows anything.
    await say(false)
    await expect.poll(() => node.told()).toEqual(all)
    await node.api.client.remove(bgpPeerResource, { name: 'other' })
    await expect.poll(() => node.told()).toEqual(ofItself)
    await drain(null)
    await expect.poll(() => node.told()).toEqual(all)
  })
})
