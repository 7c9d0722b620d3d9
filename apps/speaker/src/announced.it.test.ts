import { nodes, pods, services } from '@kube-ovn/kube'
import { subnetResource, vipResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressesOf,
  burstsOf,
  cidrsOf,
  emptyModel,
  happenIn,
  otherHop,
  serviceAddressesOf,
  subnetNames,
  vipAddresses,
  wantedOf,
  type AnnouncedEvent,
  type Model,
  type Policy,
  type SubnetName,
} from './announced-fixture.ts'
import { flagsOf, settings, type Settings } from './announced-settings-fixture.ts'
import { bgp, own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const merge = 'application/merge-patch+json'
const [runs, bursts] = process.env['KUBE_OVN_DEEP'] === '1' ? ([20, 12] as const) : ([2, 6] as const)

describe.skipIf(missing)(`what is announced${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()

  async function begin(settings: Settings): Promise<Model> {
    const model = emptyModel(settings)
    for (const name of subnetNames) await node.createSubnet(name, blockOf(model, name))
    // Another speaker is there for what any can announce.
    await node.createOtherSpeaker()
    node.here.run('ip', 'address', 'add', `${otherHop}/24`, 'dev', 'eth0')
    start(settings)
    await untilSession()
    return model
  }

  function start(settings: Settings): void {
    node.start('--graceful-restart', ...flagsOf(settings))
  }

  /** Next hops and communities by prefix that the router knows. */
  function told(): Readonly<Record<string, Heard>> {
    const routes = [...node.peer.routes('ipv4').values(), ...node.peer.routes('ipv6').values()]
    return Object.fromEntries(
      routes.map(({ prefix, nextHop, communities }) => [prefix, { nextHop, communities }]),
    )
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
        const addresses = addressesOf(event.index, { ...event, hasMoved: false }).join(',')
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
      case 'pod address': {
        const pod = model.pods.get(event.index)
        if (pod === undefined) return
        const addresses = addressesOf(event.index, pod).join(',')
        const metadata = { annotations: { 'ovn.kubernetes.io/ip_address': addresses } }
        const ref = { namespace: 'default', name: `pod-${event.index}` }
        await client.patch(pods, ref, merge, { metadata })
        return
      }
      case 'subnet edit': {
        const status = { inEffect: { cidrBlock: blockOf(model, event.subnet) } }
        await client.patch(
          ...([
            subnetResource,
            { name: event.subnet },
            merge,
            { status },
            { subresource: 'status' },
          ] as const),
        )
        return
      }
      case 'service': {
        const ref = { namespace: 'default', name: `service-${event.index}` }
        if (!model.services.has(event.index)) {
          await client.remove(services, ref)
          return
        }
        const annotations = event.policy === undefined ? {} : { [bgp]: event.policy }
        const [clusterIP, ipv6] = serviceAddressesOf(event.index)
        await client.create(services, {
          metadata: { ...ref, annotations },
          spec: {
            ...{ clusterIP, clusterIPs: [clusterIP, ipv6], ipFamilyPolicy: 'RequireDualStack' },
            ports: [{ port: 80 }],
          },
        })
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
        model.settings = event.settings
        start(event.settings)
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
  const sequences = fc.sample(fc.tuple(settings, burstsOf(5, { minLength: bursts, maxLength: bursts })), runs)
  it.each([...sequences.entries()])(
    'is what is desired after any sequence of events, with any settings, %i',
    async (run, [settings, sequence]) => {
      // Few are tried: half of them have what is rare otherwise.
      const first = { ...settings, aggregates: run % 2 === 0 }
      const model = await begin(first)
      for (const [index, burst] of sequence.entries()) {
        for (const one of burst) await happen(model, one)
        const message = `after ${JSON.stringify([first, ...sequence.slice(0, index + 1)])}`
        await expect.poll(told, { timeout: 60_000, message }).toEqual(heardOf(model))
      }
      // Nothing of it is what the router has kept of a speaker before this one.
      await expect.poll(() => node.staleRoutes(), { timeout: 60_000 }).toEqual([])
    },
  )
})

/** What GoBGP shows of it. */
interface Heard {
  readonly nextHop: string
  readonly communities: readonly number[]
}

function heardOf(model: Model): Readonly<Record<string, Heard>> {
  const communities = model.settings.communities
    .map((text) => text.split(':').map(Number))
    .flatMap(([high = 0, low = 0, ...more]) => (more.length > 0 ? [] : [high * 65_536 + low]))
  return Object.fromEntries(
    Object.entries(wantedOf(model)).map(([prefix, nextHop]) => [prefix, { nextHop, communities }]),
  )
}

function blockOf(model: Model, name: SubnetName): string {
  const { ipv4, ipv6 } = cidrsOf(model, name)
  return `${ipv4},${ipv6}`
}

function annotated(policy: Policy): object {
  return { metadata: { annotations: { [bgp]: policy ?? null } } }
}
