import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BgpSpeaker } from '@kube-ovn/bgp'
import { RemoteRouter } from '@kube-ovn/bgp/testing/remote-router'
import { speakerApp } from '@kube-ovn/annotations'
import { desiredPrefixes, type Announced } from '@kube-ovn/features-speaker'
import { contains, parseCidr } from '@kube-ovn/ip'
import type { Node, Pod, Service } from '@kube-ovn/kube'
import type { Subnet, Vip } from '@kube-ovn/kube-api'
import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { ManualClock } from '@kube-ovn/time'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
} from './announced-fixture.ts'
import {
  allFlagsOf,
  asOf,
  entriesOf,
  heardOf,
  settings,
  type Heard,
  type Settings,
} from './announced-settings-fixture.ts'
import { Announcer } from './announcer.ts'
import { command, speakerOptions, type SpeakerConfig } from './config.ts'
import { bgp, own, router } from './speaker-fixture.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const families = ['ipv4', 'ipv6'] as const
type Family = (typeof families)[number]
let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'speaker-announced-'))
})

afterAll(() => rmSync(directory, { recursive: true }))

/** What the speaker makes of what a user has written. */
function configOf(settings: Settings): SpeakerConfig {
  const path = join(directory, 'neighbors.json')
  writeFileSync(path, JSON.stringify(entriesOf(settings)))
  const environment = { NODE_NAME: 'node-1', POD_IPS: own.ipv4 }
  const parsed = readConfig(command, allFlagsOf(settings, path), environment)
  return parsed.kind === 'help' ? expect.unreachable('nobody has asked for help') : parsed.config
}

function annotationsOf(policy: Policy): Readonly<Record<string, string>> {
  return policy === undefined ? {} : { [bgp]: policy }
}

/** What the API server would have of it. */
function announcedOf(model: Model, config: SpeakerConfig): Announced {
  const { subnets, pods, services, vip, hasNode, isDrained } = model
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
    ...{
      nodeName: config.nodeName,
      aggregates: config.aggregate,
      nodes,
      bgpPeers: [],
      vips: vip === undefined ? [] : [front],
    },
    subnets: subnetNames.map((name): Subnet => {
      const { ipv4, ipv6 } = cidrsOf(model, name)
      const cidrBlock = `${ipv4},${ipv6}`
      return {
        metadata: { name, annotations: annotationsOf(subnets[name]) },
        status: { inEffect: { cidrBlock } },
      }
    }),
    services: (config.announceClusterIp ? [...services] : []).map(([index, policy]): Service => ({
      metadata: { name: `service-${index}`, namespace: 'default', annotations: annotationsOf(policy) },
      spec: { type: 'ClusterIP', clusterIPs: [...serviceAddressesOf(index)] },
    })),
    pods: [
      otherSpeaker,
      ...[...pods].map(([index, pod]): Pod => ({
        metadata: {
          ...{ name: `pod-${index}`, namespace: 'default' },
          annotations: {
            'ovn.kubernetes.io/allocated': 'true',
            'ovn.kubernetes.io/ip_address': addressesOf(index, pod).join(','),
            'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
            'ovn.kubernetes.io/logical_switch': pod.subnet,
            ...(pod.shares && { 'ovn.kubernetes.io/aaps': 'front' }),
            ...annotationsOf(pod.policy),
          },
        },
        spec: { nodeName: pod.node, containers: [] },
      })),
    ],
  })
}

/** A speaker whose router is in memory: two sessions with one, each of its own family. */
class Running {
  readonly routers: Readonly<Record<Family, RemoteRouter>>
  readonly announcer: Announcer
  readonly #speaker: BgpSpeaker
  readonly #clock: ManualClock
  #dialled: RemoteRouter[] = []

  constructor(model: Model, clock: ManualClock) {
    this.#clock = clock
    const { settings } = model
    this.routers = {
      ipv4: new RemoteRouter(asOf(settings, 'ipv4'), { families: ['ipv4'] }),
      ipv6: new RemoteRouter(asOf(settings, 'ipv6'), { extendedNextHop: true }),
    }
    const config = configOf(settings)
    const options = speakerOptions(config)
    this.#speaker = new BgpSpeaker(options, {
      ...{ clock, log: recordingLogger(), random: () => 0, changed: () => undefined },
      dial: ({ address }) => {
        const remote = this.routers[address === router.ipv6 ? 'ipv6' : 'ipv4']
        this.#dialled.push(remote)
        return Promise.resolve(remote.connection())
      },
    })
    this.announcer = new Announcer({
      ...{ peers: options.peers, speaker: this.#speaker, log: recordingLogger() },
      own: {
        hopTo: (address) => ({ nextHop: address === router.ipv6 ? own.ipv6 : model.hop, problem: undefined }),
      },
      announced: () => announcedOf(model, config),
    })
  }

  async start(): Promise<void> {
    await this.#speaker.start()
    this.announcer.decide()
    await this.untilSessions()
  }

  async stop(): Promise<void> {
    await this.#speaker.stop({ keepsRoutes: false })
  }

  /** Second by second: who is dialled does its part. */
  async untilSessions(): Promise<void> {
    for (let second = 0; second < 300; second++) {
      await settled()
      for (const remote of this.#dialled.splice(0)) remote.establish()
      await settled()
      if (this.#speaker.statuses.every(({ state }) => state === 'established')) return
      this.#clock.advance(1_000)
    }
    expect.unreachable('sessions come about')
  }

  get isComplete(): boolean {
    return this.#speaker.statuses.every(({ wanted, advertised }) => wanted === advertised)
  }
}

class World {
  readonly #clock = new ManualClock()
  readonly model: Model
  /** Hosts that had no way for a moment, though they had one before and after. */
  readonly wayless: string[] = []
  running: Running

  constructor(settings: Settings) {
    this.model = emptyModel(settings)
    this.running = new Running(this.model, this.#clock)
  }

  /** What the router knows by the session of a family. */
  told(family: Family): Readonly<Record<string, Heard>> {
    const { table, paths } = this.running.routers[family]
    return Object.fromEntries(
      [...table].map(([prefix, nextHop]) => [prefix, { nextHop, ...saidOf(prefix, paths) }]),
    )
  }

  async happen(event: AnnouncedEvent): Promise<void> {
    if (happenIn(this.model, event)) {
      const tables = families.map((family) => new RouterTable(this.running.routers[family]))
      this.running.announcer.decide()
      this.wayless.push(...tables.flatMap((table) => table.wayless()))
      return
    }
    if (event.kind === 'hop') {
      this.model.hop = this.model.hop === own.ipv4 ? otherHop : own.ipv4
      return this.running.announcer.tell()
    }
    if (event.kind === 'router') {
      for (const remote of Object.values(this.running.routers)) remote.cut()
      await this.running.untilSessions()
    } else if (event.kind === 'speaker') {
      await this.running.stop()
      this.model.settings = event.settings
      this.running = new Running(this.model, this.#clock)
      await this.running.start()
    }
  }
}

/** What a router knows, message by message from now on. */
class RouterTable {
  readonly #router: RemoteRouter
  readonly #before: ReadonlySet<string>
  readonly #messagesBefore: number

  constructor(router: RemoteRouter) {
    this.#router = router
    this.#before = new Set(router.table.keys())
    this.#messagesBefore = router.messages.length
  }

  /** Hosts that have a way now, and had one at first, but had none between two messages, be it their own or one of a network. */
  wayless(): readonly string[] {
    const after = new Set(this.#router.table.keys())
    const hosts = [...this.#before, ...after].filter((prefix) => /\/(32|128)$/.test(prefix))
    const kept = hosts.filter((host) => isLedTo(host, this.#before) && isLedTo(host, after))
    const table = new Set(this.#before)
    const found = new Set<string>()
    for (const message of this.#router.messages.slice(this.#messagesBefore)) {
      if (message.type !== 'update') continue
      const { withdrawn, unreachable, announced, reachable } = message
      for (const prefix of [...withdrawn, ...(unreachable?.prefixes ?? [])]) table.delete(prefix)
      for (const prefix of [...announced, ...(reachable?.prefixes ?? [])]) table.add(prefix)
      for (const host of kept) if (!isLedTo(host, table)) found.add(host)
    }
    return [...found]
  }
}

function isLedTo(host: string, table: ReadonlySet<string>): boolean {
  const { network } = parseCidr(host)
  return table.has(host) || [...table].some((prefix) => contains(parseCidr(prefix), network))
}

function saidOf(prefix: string, paths: RemoteRouter['paths']): Omit<Heard, 'nextHop'> {
  const path = paths.get(prefix)
  return {
    asPath: path?.asPath.flatMap(({ numbers }) => numbers) ?? [],
    ...{ communities: path?.communities ?? [], largeCommunities: path?.largeCommunities ?? [] },
    ...{ localPreference: path?.localPreference, med: path?.med },
  }
}

/** Lets promises go on; nothing here waits for anything else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

const timeout = isDeep ? 3_600_000 : 180_000
it('is what is desired after any sequence of events, with any settings', { timeout }, async () => {
  const bursts = burstsOf(4, { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(settings, bursts, async (settings, bursts) => {
      const world = new World(settings)
      await world.running.start()
      for (const burst of bursts) {
        for (const event of burst) await world.happen(event)
        const wanted = wantedOf(world.model)
        for (const family of families)
          expect(world.told(family)).toEqual(heardOf(wanted, world.model.settings, family))
        expect(world.running.isComplete).toBe(true)
        expect(world.wayless).toEqual([])
      }
      await world.running.stop()
    }),
    { numRuns: isDeep ? 5_000 : 300 },
  )
})
