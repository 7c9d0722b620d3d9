import { speakerApp } from '@kube-ovn/annotations'
import { nodes, pods } from '@kube-ovn/kube'
import { subnetResource, vipResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressesOf,
  burstsOf,
  cidrs,
  emptyModel,
  happenIn,
  otherHop,
  subnetNames,
  vipAddresses,
  wantedOf,
  type AnnouncedEvent,
  type Model,
  type Policy,
} from './announced-fixture.ts'
import { bgp, own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const merge = 'application/merge-patch+json'
const [runs, bursts] = process.env['KUBE_OVN_DEEP'] === '1' ? ([20, 12] as const) : ([2, 6] as const)

describe.skipIf(missing)(`what is announced${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()

  async function begin(): Promise<Model> {
    for (const name of subnetNames) await node.createSubnet(name, `${cidrs[name].ipv4},${cidrs[name].ipv6}`)
    // Another speaker is there for what any can announce.
    await node.api.client.create(nodes, { metadata: { name: 'node-2' } })
    const ref = { namespace: 'kube-system', name: 'speaker-2' }
    await node.api.client.create(pods, {
      metadata: { ...ref, labels: { app: speakerApp } },
      spec: { nodeName: 'node-2', containers: [{ name: 'c', image: 'c' }] },
    })
    const conditions = [{ type: 'Ready', status: 'True' }]
    await node.api.client.patch(pods, ref, merge, { status: { conditions } }, { subresource: 'status' })
    node.here.run('ip', 'address', 'add', `${otherHop}/24`, 'dev', 'eth0')
    node.start('--graceful-restart')
    await untilSession()
    return emptyModel()
  }

  /** Sessions of IPv4 that there have been since the speaker was started. */
  function sessions(): number {
    return node.log.lines.filter(
      ({ message, fields }) => message === 'BGP session was established' && fields['peer'] === router.ipv4,
    ).length
  }

  /** Waits for the next session: one that begins is dialled from where routes lead from, and the router knows its neighbour by one address. */
  async function untilSession(before = 0): Promise<void> {
    await expect.poll(sessions, { timeout: 60_000 }).toBeGreaterThan(before)
  }

  function leadFrom(model: Model, hop: string): void {
    model.hop = hop
    node.here.run('ip', 'route', 'replace', `${router.ipv4}/32`, 'dev', 'eth0', 'src', hop)
  }

  async function happen(model: Model, event: AnnouncedEvent): Promise<void> {
    const { client } = node.api
    const before = { pod: 'index' in event && model.pods.has(event.index), vip: model.vip !== undefined }
    happenIn(model, event)
    switch (event.kind) {
      case 'pod': {
        const name = `pod-${event.index}`
        if (before.pod) return node.removePod(name)
        const addresses = addressesOf(event.index, event.subnet).join(',')
        await node.createPod(name, event.node, addresses, event.policy, event.subnet)
        if (event.shares) await share(name)
        return
      }
      case 'pod policy': {
        if (!before.pod) return
        const ref = { namespace: 'default', name: `pod-${event.index}` }
        await client.patch(pods, ref, merge, annotated(event.policy))
        return
      }
      case 'subnet policy':
        await client.patch(subnetResource, { name: event.subnet }, merge, annotated(event.policy))
        return
      case 'vip': {
        if (model.vip === undefined) await client.remove(vipResource, { name: 'front' })
        else if (before.vip)
          await client.patch(vipResource, { name: 'front' }, merge, annotated(event.policy))
        else
          await client.create(vipResource, {
            metadata: {
              name: 'front',
              annotations: event.policy === undefined ? {} : { [bgp]: event.policy },
            },
            spec: { subnet: 'red', namespace: 'default' },
            status: { v4ip: vipAddresses.ipv4, v6ip: vipAddresses.ipv6 },
          })
        return
      }
      case 'node':
        if (model.hasNode) await client.create(nodes, { metadata: { name: 'node-1' } })
        else await client.remove(nodes, { name: 'node-1' })
        return
      case 'drain':
        if (!model.hasNode) return
        await client.patch(nodes, { name: 'node-1' }, merge, { spec: { unschedulable: model.isDrained } })
        return
      case 'hop':
        leadFrom(model, model.hop === own.ipv4 ? otherHop : own.ipv4)
        return
      case 'speaker':
        leadFrom(model, own.ipv4)
        await node.stop()
        node.start('--graceful-restart')
        return untilSession()
      case 'router': {
        leadFrom(model, own.ipv4)
        const before = sessions()
        await node.restartRouter()
        await untilSession(before)
      }
    }
  }

  async function share(pod: string): Promise<void> {
    const metadata = { annotations: { 'ovn.kubernetes.io/aaps': 'front' } }
    await node.api.client.patch(pods, { namespace: 'default', name: pod }, merge, { metadata })
  }

  // A world is made for each test. Shorter sequences, and many more of them, are tried with a router in memory.
  const sequences = fc.sample(burstsOf(5, { minLength: bursts, maxLength: bursts }), runs)
  it.each([...sequences.entries()])(
    'is what is desired after any sequence of events, %i',
    async (_, sequence) => {
      const model = await begin()
      for (const [index, burst] of sequence.entries()) {
        for (const one of burst) await happen(model, one)
        const message = `after ${JSON.stringify(sequence.slice(0, index + 1))}`
        await expect.poll(() => node.told(), { timeout: 60_000, message }).toEqual(wantedOf(model))
      }
      // Nothing of it is what the router has kept of a speaker before this one.
      await expect.poll(() => node.staleRoutes(), { timeout: 60_000 }).toEqual([])
    },
  )
})

function annotated(policy: Policy): object {
  return { metadata: { annotations: { [bgp]: policy ?? null } } }
}
