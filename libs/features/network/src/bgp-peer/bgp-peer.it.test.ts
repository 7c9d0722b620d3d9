import { speakerApp } from '@kube-ovn/annotations'
import { bgpPeerResource, type BgpPeer } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { ControlCluster } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const merge = 'application/merge-patch+json'
const status = { subresource: 'status' }
const ref = { name: 'n1.192-0-2-9' }

beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  await startSpeaker('n1')
  await startSpeaker('n2')
  await cluster.client.create(bgpPeerResource, peer('n1'))
  await cluster.client.create(bgpPeerResource, peer('n2'))
  await establish('n1')
  await establish('n2')
})

function startSpeaker(node: string): Promise<void> {
  const labels = { app: speakerApp }
  return cluster.user.createPod({ ...{ name: `speaker-${node}`, node, labels }, hostNetwork: true })
}

function peer(node: string): BgpPeer {
  return { metadata: { name: `${node}.192-0-2-9` }, spec: { node, neighbor: '192.0.2.9' } }
}

/** As a speaker does, at a time in seconds since the epoch. */
async function establish(node: string, atSeconds = 0): Promise<void> {
  const lastTransitionTime = timeOf(atSeconds)
  const conditions = [
    { type: 'Established', status: 'True', reason: 'SessionEstablished', lastTransitionTime },
  ]
  const { metadata } = peer(node)
  const said = { status: { state: 'Established', error: null, holdTimeSeconds: 90, conditions } }
  await cluster.client.patch(bgpPeerResource, { name: metadata.name }, merge, said, status)
}

/** What the controller of nodes says when a kubelet is not heard of. */
async function say(is: 'True' | 'Unknown', atSeconds: number): Promise<void> {
  const conditions = [{ type: 'Ready', status: is, lastTransitionTime: timeOf(atSeconds) }]
  await cluster.client.patch(nodes, { name: 'n1' }, merge, { status: { conditions } }, status)
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

const stateOf = async (node: string) =>
  (await cluster.client.get(bgpPeerResource, { name: `${node}.192-0-2-9` }))?.status

it('says that a session is over when its speaker is gone for good, once, and nothing of others', async () => {
  {
    await using control = await cluster.startSettled()
    await cluster.removePod('speaker-n1')
    await control.settle()
    expect(await stateOf('n1')).toMatchObject({
      ...{ state: 'Idle', error: 'there is no speaker on the node any more' },
      conditions: [{ status: 'False', reason: 'SpeakerGone' }],
    })
    expect(await stateOf('n1')).not.toHaveProperty('holdTimeSeconds')
    expect(await stateOf('n2')).toMatchObject({ state: 'Established' })
    expect(await cluster.costs()).toMatchObject({ writes: ['patch bgppeers/status'] })
  }
  await using control = await cluster.startController()
  await cluster.forgetCosts()
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  await startSpeaker('n1')
  await establish('n1')
  await control.settle()
  expect(await stateOf('n1')).toMatchObject({ state: 'Established' })
  await cluster.client.remove(bgpPeerResource, ref)
  await control.settle()
  expect(await stateOf('n1')).toBeUndefined()
  expect(control.problems()).toEqual([])
})

it('says of one that went while no controller was at work, and of a speaker that has ended', async () => {
  await cluster.removePod('speaker-n2')
  const ended = { status: { phase: 'Failed', reason: 'Evicted' } }
  await cluster.client.patch(pods, { namespace: 'default', name: 'speaker-n1' }, merge, ended, status)
  await using _ = await cluster.startSettled()
  for (const node of ['n1', 'n2']) expect(await stateOf(node)).toMatchObject({ state: 'Idle' })
})

it('knows nothing of a node that is silent, and believes its speaker afterwards', async () => {
  await using control = await cluster.startSettled()
  await say('Unknown', 60)
  await control.settle()
  expect(await stateOf('n1')).toMatchObject({
    ...{ state: 'Unknown', holdTimeSeconds: 90 },
    conditions: [{ status: 'Unknown', reason: 'NodeSilent' }],
  })
  // It is the kubelet alone that is silent: a speaker says so, by a clock that is behind.
  await establish('n1', 30)
  await cluster.forgetCosts()
  await control.settle()
  expect(await stateOf('n1')).toMatchObject({ state: 'Established' })
  // They say no more, however often they look.
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  await say('True', 180)
  await control.settle()
  expect(await stateOf('n1')).toMatchObject({ state: 'Established' })
  expect(await stateOf('n2')).toMatchObject({ state: 'Established' })
})
