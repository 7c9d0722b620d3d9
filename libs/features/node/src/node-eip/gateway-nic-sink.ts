import type { BfdDependencies, BfdMonitor, BfdTimers } from '@kube-ovn/bgp/bfd'
import {
  nothingToDo,
  writeEach,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type SysctlAccess,
  type Wanted,
} from '@kube-ovn/fragments'
import { parseCidr, parseIp } from '@kube-ovn/ip'
import type { Logger } from '@kube-ovn/log'
import type {
  HeldNamespace,
  LinkInfo,
  Netlink,
  NetlinkEvent,
  NetlinkOptions,
  RouteRequest,
} from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import { forwardingSettings } from '../forwarding/sysctls.ts'
import { GatewayCheck } from '../gateway-check.ts'
import { HostEvents } from '../host-events.ts'
import { planAddresses } from '../node-nic/plan.ts'
import { txQueueLength } from '../pod-nic/link.ts'
import { silenceHostEnd } from '../pod-nic/veth.ts'
import { identityOf, type GatewayNic, type MadeNic } from './desired.ts'

export const gatewayNics: SinkKind<GatewayNic> = {
  name: 'gateway-nics',
  targets: ({ link }) => [link],
  validate({ addresses, gateways, routers }) {
    for (const cidr of addresses) parseCidr(cidr)
    for (const address of [...gateways, ...routers]) parseIp(address)
  },
}

/** What acts in network namespaces. */
export interface NamespaceAccess {
  /** Makes one, held until it is disposed of. */
  create(): HeldNamespace
  open(options: NetlinkOptions): Netlink
  readSysctl(netns: string, key: string): string
  writeSysctl(netns: string, key: string, value: string): void
  /** Begins with nobody. */
  speakBfd(timers: BfdTimers, dependencies: BfdDependencies): BfdMonitor
}

interface GatewayNicSinkOptions {
  readonly namespaces: NamespaceAccess
  readonly host: Netlink
  readonly sysctls: Pick<SysctlAccess, 'writeSysctl'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  /** Tells of the host's links. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
  /** Is told what there is, whenever that changes. */
  onMade(link: string, made: MadeNic | undefined): void
}

/**
 * How BFD is spoken with routers: an agent that is busy for a moment is not held for dead, one that is gone is after half a second.
 */
const bfdTimers = { minTxMs: 100, minRxMs: 100, multiplier: 5 } as const

/** How many names there are for the host's end: four letters or digits. */
const hostEnds = 36 ** 4

const defaultRoutes = { ipv4: '0.0.0.0/0', ipv6: '::/0' } as const

type Change = readonly [what: string, write: () => void]

/**
 * Makes the NIC in a network namespace of its own, where nothing of the host's is asked: no table of routes, no packet filter. The namespace is
 * held by this process alone, which is who answers by BFD, too: both end together, and routers send elsewhere.
 */
export class GatewayNicSink implements Sink<GatewayNic>, Disposable {
  readonly kind = gatewayNics
  readonly #options: GatewayNicSinkOptions
  readonly #listeners = new Set<(target: string | undefined) => void>()
  #home: Home | undefined

  constructor(options: GatewayNicSinkOptions) {
    this.#options = options
  }

  plan(target: string, { claims, isComplete }: Wanted<GatewayNic>): SinkPlan {
    const wanted = claims[0]?.fragment
    if (wanted === undefined) {
      if (this.#home === undefined || !isComplete) return nothingToDo
      return { changes: [`no link ${target}`], carryOut: () => this.#leave() }
    }
    const home = this.#home
    const link = this.#linkOf(wanted)
    const changes =
      home === undefined || link === undefined
        ? [`link ${wanted.link}`]
        : [...home.changes(link, wanted).map(([what]) => what), ...home.missing(wanted)]
    return { changes, carryOut: () => this.#carryOut(wanted) }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    this.#listeners.add(listener)
    const hostEvents = this.#options.onEvent((event) => {
      const isOurs =
        event.kind === 'resync' || (event.kind === 'link' && event.link.name === this.#home?.hostEnd)
      if (isOurs) listener(undefined)
    })
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener)
        hostEvents[Symbol.dispose]()
      },
    }
  }

  /** Routers are told, and send elsewhere. */
  [Symbol.dispose](): void {
    this.#home?.[Symbol.dispose]()
    this.#home = undefined
  }

  /** Both ends are there, and the host's is the other end of the one inside. */
  #linkOf({ link, mac, mtu }: GatewayNic): LinkInfo | undefined {
    const inside = this.#home?.inside.link(link)
    const outside = this.#hostLink()
    const isWhole =
      inside !== undefined &&
      outside?.linkIndex === inside.index &&
      outside.isUp &&
      inside.mac === mac &&
      inside.mtu === mtu
    return isWhole ? inside : undefined
  }

  /** The host's end of what was made last, if it is there. */
  #hostLink(): LinkInfo | undefined {
    const name = this.#home?.hostEnd
    return name === undefined ? undefined : this.#options.host.link(name)
  }

  async #carryOut(wanted: GatewayNic): Promise<void> {
    const home = (this.#home ??= new Home(wanted.link, this.#options, () => this.#changed()))
    if (this.#linkOf(wanted) === undefined) this.#makeLink(wanted, home)
    const link = this.#linkOf(wanted)
    if (link === undefined) throw new TypeError(`${wanted.link} vanished`)
    writeEach(home.changes(link, wanted))
    await home.speak(wanted)
    home.ask(link.index, wanted)
  }

  #makeLink({ link, mac, mtu }: GatewayNic, home: Home): void {
    const { host, sysctls, log } = this.#options
    const [outside, inside] = [this.#hostLink(), home.inside.link(link)]
    if (outside !== undefined) host.removeLink(outside.index)
    if (inside !== undefined) home.inside.removeLink(inside.index)
    const hostEnd = this.#freeName(link)
    host.createVeth({
      ...{ name: hostEnd, mtu, txQueueLength, up: true },
      peer: { name: link, netns: home.path, mac, mtu, txQueueLength },
    })
    const access = {
      writeSysctl: (_netns: undefined, key: string, value: string) => sysctls.writeSysctl(key, value),
    }
    silenceHostEnd(access, hostEnd, log)
    home.made(hostEnd)
  }

  /**
   * A name that no link had: the userspace data path of Open vSwitch goes on with the device that a port had, though another one has its name by now.
   */
  #freeName(link: string): string {
    const { host, random } = this.#options
    for (let number = Math.floor(random() * hostEnds); ; number++) {
      const name = `${link}_${(number % hostEnds).toString(36).padStart(4, '0')}`
      if (host.link(name) === undefined) return name
    }
  }

  #leave(): void {
    const end = this.#hostLink()
    this[Symbol.dispose]()
    if (end !== undefined) this.#options.host.removeLink(end.index)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener(undefined)
  }
}

/** A network namespace, and what goes on in it. */
class Home implements Disposable {
  readonly inside: Netlink
  readonly #link: string
  readonly #options: GatewayNicSinkOptions
  readonly #namespace: HeldNamespace
  readonly #watch: DisposableStack
  #hostEnd: string | undefined
  #speaking: { readonly from: string; readonly with: string; readonly monitor: BfdMonitor } | undefined
  #asked: { readonly identity: string; readonly question: DisposableStack } | undefined

  constructor(link: string, options: GatewayNicSinkOptions, changed: () => void) {
    this.#link = link
    this.#options = options
    this.#namespace = options.namespaces.create()
    this.inside = options.namespaces.open({ netns: this.path })
    this.#watch = new DisposableStack()
    this.#watch.use(this.#watch.use(new HostEvents(this.inside)).listen(changed))
  }

  /** The host's end of the link that was made last. */
  get hostEnd(): string | undefined {
    return this.#hostEnd
  }

  get path(): string {
    return this.#namespace.path
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
    this.#speaking?.monitor[Symbol.dispose]()
    this.#asked?.question[Symbol.dispose]()
    this.#options.onMade(this.#link, undefined)
    this.inside[Symbol.dispose]()
    this.#namespace[Symbol.dispose]()
  }

  /** What gateways have answered was about another link. */
  made(hostEnd: string): void {
    this.#hostEnd = hostEnd
    this.#asked?.question[Symbol.dispose]()
    this.#asked = undefined
    this.#tell(undefined)
  }

  /** What differs inside. */
  changes(link: LinkInfo, wanted: GatewayNic): readonly Change[] {
    const { inside, path } = this
    const { namespaces } = this.#options
    const { index, name } = link
    const changes: Change[] = []
    for (const [key, value] of settingsOf(wanted))
      if (namespaces.readSysctl(path, key) !== value)
        changes.push([`${key} = ${value}`, () => namespaces.writeSysctl(path, key, value)])
    if (wanted.disablesTxChecksumOffload && inside.offload(name)?.txChecksum === true)
      changes.push(['no checksum offload', () => void inside.disableTxChecksumOffload(name)])
    if (!link.isUp) changes.push([`${name} up`, () => inside.changeLink(index, { up: true })])
    const { add, remove } = planAddresses(wanted.addresses, inside.addresses(index))
    for (const cidr of remove) changes.push([`no address ${cidr}`, () => inside.removeAddress(index, cidr)])
    for (const cidr of add)
      changes.push([`address ${cidr}`, () => inside.addAddress(index, cidr, { noDad: true })])
    const present = inside.routes({ index })
    for (const route of present)
      if (route.gateway !== undefined && !wanted.gateways.includes(route.gateway))
        changes.push([`no route by ${route.gateway}`, () => inside.removeRoute(route)])
    for (const gateway of wanted.gateways) {
      const destination = defaultRoutes[gateway.includes(':') ? 'ipv6' : 'ipv4']
      const route: RouteRequest = { destination, gateway, index }
      if (!present.some((one) => one.destination === destination && one.gateway === gateway))
        changes.push([`route by ${gateway}`, () => inside.replaceRoute(route)])
    }
    return changes
  }

  /** What is not as it should be beside the link. */
  missing(wanted: GatewayNic): readonly string[] {
    return [
      ...(this.#speaking?.from === sourcesOf(wanted) && this.#speaking.with === wanted.routers.join()
        ? []
        : [`BFD with ${wanted.routers.join(', ') || 'nobody'}`]),
      ...(this.#asked?.identity === identityOf(wanted) ? [] : ['question for gateways']),
    ]
  }

  async speak(wanted: GatewayNic): Promise<void> {
    const { clock, log, random, namespaces } = this.#options
    const from = sourcesOf(wanted)
    if (this.#speaking !== undefined && this.#speaking.from !== from) {
      this.#speaking.monitor[Symbol.dispose]()
      this.#speaking = undefined
    }
    const monitor =
      this.#speaking?.monitor ??
      namespaces.speakBfd(bfdTimers, {
        ...{ clock, log, random, netns: this.path, isPassive: true },
        sourceFor: (router) => sourceFor(wanted, router),
        // Who stops sending is the router.
        lost: () => undefined,
        reached: () => undefined,
      })
    this.#speaking = { from, with: wanted.routers.join(), monitor }
    await monitor.watch(wanted.routers)
  }

  /** Asks gateways where they are, until all have answered once. */
  ask(index: number, wanted: GatewayNic): void {
    const identity = identityOf(wanted)
    if (this.#asked?.identity === identity) return
    this.#asked?.question[Symbol.dispose]()
    const question = new DisposableStack()
    this.#asked = { identity, question }
    this.#tell(undefined)
    const { gateways, checksGateways } = wanted
    const check = new GatewayCheck(this.inside, index, checksGateways ? gateways : [])
    question.use(
      check.ask(() => {
        if (question.disposed || this.#asked?.identity !== identity || !this.#isOver(check)) return
        this.#tell(identity)
        // Not before it has begun.
        queueMicrotask(() => question.dispose())
      }),
    )
  }

  #isOver(check: GatewayCheck): boolean {
    try {
      return check.isOver() === true
    } catch (error) {
      // The link is gone, and with it what was asked: its coming back is told.
      this.#options.log.debug('gateways can not be asked', { link: this.#link, err: error })
      return false
    }
  }

  #tell(answered: string | undefined): void {
    const hostEnd = this.#hostEnd
    this.#options.onMade(this.#link, hostEnd === undefined ? undefined : { hostEnd, answered })
  }
}

function sourcesOf({ addresses }: GatewayNic): string {
  return addresses.join()
}

function sourceFor({ addresses, link }: GatewayNic, router: string): string {
  const cidr = addresses.find((text) => text.includes(':') === router.includes(':'))
  if (cidr === undefined) throw new TypeError(`${link} has no address of the family of ${router}`)
  return cidr.slice(0, cidr.indexOf('/'))
}

/**
 * It forwards by the NIC by which packets come in, whatever their source is, and tells nobody of the shorter way: routers send by this node on
 * purpose.
 */
function* settingsOf({ link, addresses }: GatewayNic): Iterable<readonly [key: string, value: string]> {
  const hasIpv6 = addresses.some((cidr) => cidr.includes(':'))
  if (addresses.some((cidr) => !cidr.includes(':'))) {
    yield [forwardingSettings[4].key, forwardingSettings[4].value]
    for (const scope of ['all', link]) {
      yield [`ipv4/conf/${scope}/rp_filter`, '0']
      yield [`ipv4/conf/${scope}/send_redirects`, '0']
    }
  }
  if (!hasIpv6) return
  yield [`ipv6/conf/${link}/disable_ipv6`, '0']
  yield [`ipv6/conf/${link}/accept_ra`, '0']
  yield [forwardingSettings[6].key, forwardingSettings[6].value]
}
