import { BgpSpeaker } from '@kube-ovn/bgp'
import { RemoteRouter } from '@kube-ovn/bgp/testing/remote-router'
import { speakerApp } from '@kube-ovn/annotations'
import { desiredPrefixes, type Announced } from '@kube-ovn/features-speaker'
import type { Node, Pod } from '@kube-ovn/kube'
import type { Subnet, Vip } from '@kube-ovn/kube-api'
import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import fc from 'fast-check'
import { expect, it } from 'vitest'
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
import { Announcer } from './announcer.ts'
import { bgp, own, router } from './speaker-fixture.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

function annotationsOf(policy: Policy): Readonly<Record<string, string>> {
  return policy === undefined ? {} : { [bgp]: policy }
}

/** What the API server would have of it. */
function announcedOf({ subnets, pods, vip, hasNode, isDrained }: Model): Announced {
  const nodes: Node[] = [{ metadata: { name: 'node-2' } }]
  if (hasNode) nodes.push({ metadata: { name: 'node-1' }, spec: { unschedulable: isDrained } })
  const otherSpeaker = {
    metadata: { name: 'speaker-2', namespace: 'kube-system', labels: { app: speakerApp } },
    spec: { nodeName: 'node-2', hostNetwork: true, containers: [] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  } as Pod
  const front: Vip = {
    metadata: { name: 'front', annotations: annotationsOf(vip?.policy) },
    spec: { subnet: 'red', namespace: 'default' },
    status: { v4ip: vipAddresses.ipv4, v6ip: vipAddresses.ipv6 },
  }
  return desiredPrefixes({
    ...{ nodeName: 'node-1', aggregates: false, services: [], nodes, vips: vip === undefined ? [] : [front] },
    subnets: subnetNames.map((name): Subnet => {
      const cidrBlock = `${cidrs[name].ipv4},${cidrs[name].ipv6}`
      return {
        metadata: { name, annotations: annotationsOf(subnets[name]) },
        status: { inEffect: { cidrBlock } },
      }
    }),
    pods: [
      otherSpeaker,
      ...[...pods].map(([index, { node, subnet, shares, policy }]): Pod => ({
        metadata: {
          ...{ name: `pod-${index}`, namespace: 'default' },
          annotations: {
            'ovn.kubernetes.io/allocated': 'true',
            'ovn.kubernetes.io/ip_address': addressesOf(index, subnet).join(','),
            'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
            'ovn.kubernetes.io/logical_switch': subnet,
            ...(shares && { 'ovn.kubernetes.io/aaps': 'front' }),
            ...annotationsOf(policy),
          },
        },
        spec: { nodeName: node, containers: [] },
      })),
    ],
  })
}

/** A speaker whose router is in memory: two sessions with one, each of its own family. */
class World {
  readonly clock = new ManualClock()
  readonly model = emptyModel()
  readonly routers = new Map(
    Object.values<string>(router).map((address) => [
      address,
      new RemoteRouter(65_001, { families: [address.includes(':') ? 'ipv6' : 'ipv4'] }),
    ]),
  )
  #dialled: string[] = []
  #speaker = this.#makeSpeaker()
  #announcer = this.#makeAnnouncer()

  async start(): Promise<void> {
    await this.#speaker.start()
    this.#announcer.decide()
    await this.untilSessions()
  }

  async stop(): Promise<void> {
    await this.#speaker.stop({ keepsRoutes: false })
  }

  /** What is known at the other ends. */
  get told(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.routers.values()].flatMap(({ table }) => [...table]))
  }

  async happen(event: AnnouncedEvent): Promise<void> {
    if (happenIn(this.model, event)) return this.#announcer.decide()
    if (event.kind === 'hop') {
      this.model.hop = this.model.hop === own.ipv4 ? otherHop : own.ipv4
      return this.#announcer.tell()
    }
    if (event.kind === 'router') for (const remote of this.routers.values()) remote.cut()
    else {
      await this.stop()
      this.#speaker = this.#makeSpeaker()
      this.#announcer = this.#makeAnnouncer()
      await this.#speaker.start()
      this.#announcer.decide()
    }
    await this.untilSessions()
  }

  /** Second by second: who is dialled does its part. */
  async untilSessions(): Promise<void> {
    for (let second = 0; second < 300; second++) {
      await settled()
      for (const address of this.#dialled.splice(0)) this.routers.get(address)?.establish()
      await settled()
      if (this.#speaker.statuses.every(({ state }) => state === 'established')) return
      this.clock.advance(1_000)
    }
    expect.unreachable('sessions come about')
  }

  get isComplete(): boolean {
    return this.#speaker.statuses.every(({ wanted, advertised }) => wanted === advertised)
  }

  #makeSpeaker(): BgpSpeaker {
    const peers = [...this.routers.keys()].map((address) => ({
      ...{ address, as: 65_001, port: 179, isPassive: false, ttl: 1, extendedNextHop: false },
      families: [address.includes(':') ? ('ipv6' as const) : ('ipv4' as const)],
    }))
    return new BgpSpeaker(
      { as: 65_000, identifier: own.ipv4, holdTimeS: 90, gracefulRestart: undefined, listenPort: 179, peers },
      {
        ...{ clock: this.clock, log: recordingLogger(), random: () => 0, changed: () => undefined },
        dial: ({ address }) => {
          this.#dialled.push(address)
          const remote = this.routers.get(address) ?? expect.unreachable('it is one of two')
          return Promise.resolve(remote.connection())
        },
      },
    )
  }

  #makeAnnouncer(): Announcer {
    return new Announcer({
      peers: [...this.routers.keys()].map((address) => ({ address, extendedNextHop: false, attributes: {} })),
      own: { nextHopFor: (address) => (address.includes(':') ? own.ipv6 : this.model.hop) },
      ...{ speaker: this.#speaker, log: recordingLogger(), announced: () => announcedOf(this.model) },
    })
  }
}

/** Lets promises go on; nothing here waits for anything else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

it('is what is desired after any sequence of events', async () => {
  await fc.assert(
    fc.asyncProperty(burstsOf(4, { minLength: 1, maxLength: 12 }), async (bursts) => {
      const world = new World()
      await world.start()
      for (const burst of bursts) {
        for (const event of burst) await world.happen(event)
        expect(world.told).toEqual(wantedOf(world.model))
        expect(world.isComplete).toBe(true)
      }
      await world.stop()
    }),
    { numRuns: isDeep ? 5_000 : 300 },
  )
})
