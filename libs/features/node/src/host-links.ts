import type { Logger } from '@kube-ovn/log'
import type { AddressInfo, Family, LinkInfo, NetlinkEvent, Route, RouteFilter } from '@kube-ovn/netlink'
import { sourceTable } from '@kube-ovn/tables'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'
import { isDeepStrictEqual } from 'node:util'
import { isHostNicName } from './pod-nic/names.ts'

/** A link of the host, with what features read of it. */
export interface HostLink {
  readonly index: number
  readonly name: string
  readonly mtu: number
  /** With prefix length, in the kernel's order. */
  readonly addresses: readonly string[]
  /** Preferred sources of the link's on-link routes. */
  readonly preferredSources: readonly string[]
  /** Families of which a default route of the main table leads by it. */
  readonly defaultRoutes: readonly Family[]
  /** Of a VLAN interface: index of the link that it is one of. */
  readonly vlanOf?: number
}

/** The host's links by name, without the host's ends of pods: there are many, and nobody decides by them. */
export const linkTable = sourceTable<HostLink>({ name: 'links' })

interface HostLinksOptions {
  readonly host: {
    links(): readonly Pick<LinkInfo, 'index' | 'name' | 'mtu' | 'isUp' | 'linkIndex' | 'vlanId'>[]
    addresses(): readonly Pick<AddressInfo, 'index' | 'cidr'>[]
    routes(filter: RouteFilter): readonly ReadRoute[]
  }
  /** Tells of links, addresses and routes. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  onChange(name: string, old: HostLink | undefined, now: HostLink | undefined): void
}

type ReadRoute = Pick<Route, 'index' | 'scope' | 'source' | 'destination' | 'family' | 'type' | 'nextHops'>

const everywhere: ReadonlySet<string> = new Set(['0.0.0.0/0', '::/0'])

/** RT_SCOPE_LINK and the main table of linux/rtnetlink.h. */
const scopeLink = 253
const mainTable = 254

const retry: Backoff = { initialMs: 200, maxMs: 15_000, factor: 2, jitter: 0.2 }

/** Keeps the rows of {@link linkTable}: reads all of them anew when the kernel says that one of them may have changed. */
export class HostLinks implements Disposable {
  readonly #options: HostLinksOptions
  readonly #subscription: Disposable
  #rows: ReadonlyMap<string, HostLink> = new Map()
  /** Indexes of links that were down when they were read. */
  #down: ReadonlySet<number> = new Set()
  #isDue = false
  #failures = 0
  #timer: Disposable | undefined

  constructor(options: HostLinksOptions) {
    this.#options = options
    this.#subscription = options.onEvent((event) => {
      if (this.#concerns(event)) this.#readSoon()
    })
    this.#read()
  }

  get rows(): ReadonlyMap<string, HostLink> {
    return this.#rows
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]()
    this.#timer?.[Symbol.dispose]()
    this.#isDue = true
  }

  #concerns(event: NetlinkEvent): boolean {
    switch (event.kind) {
      case 'link': {
        const { name, index, mtu, isUp } = event.link
        const known = this.#rows.get(name)
        const isSame = known?.index === index && known.mtu === mtu && event.change === 'set'
        // Linux tells of no IPv4 route that goes with its link.
        const wasUp = !this.#down.has(index)
        return !isHostNicName(name) && !(isSame && isUp === wasUp)
      }
      case 'address':
        // A link is told of before its addresses.
        return [...this.#rows.values()].some(({ index }) => index === event.address.index)
      case 'route':
        return (isPreferring(event.route) || isDefault(event.route)) && event.route.table === mainTable
      default:
        return event.kind === 'resync'
    }
  }

  /** In a later turn: one change comes as several events. */
  #readSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      if (!this.#isDue) return
      this.#isDue = false
      this.#read()
    })
  }

  #read(): void {
    const { clock, log, random, onChange } = this.#options
    const before = this.#rows
    try {
      const links = this.#options.host.links().filter(({ name }) => !isHostNicName(name))
      this.#rows = rowsOf(links, this.#options.host)
      this.#down = new Set(links.filter(({ isUp }) => !isUp).map(({ index }) => index))
      this.#failures = 0
    } catch (error) {
      const retryMs = backoffDelayMs(retry, this.#failures++, random)
      log.warn('links were not read', { attempt: this.#failures, retryMs, err: error })
      this.#timer?.[Symbol.dispose]()
      this.#timer = clock.setTimer(retryMs, () => this.#readSoon())
      return
    }
    for (const name of new Set([...before.keys(), ...this.#rows.keys()])) {
      const [old, now] = [before.get(name), this.#rows.get(name)]
      if (!isDeepStrictEqual(old, now)) onChange(name, old, now)
    }
  }
}

function rowsOf(
  links: ReturnType<HostLinksOptions['host']['links']>,
  host: HostLinksOptions['host'],
): ReadonlyMap<string, HostLink> {
  const addresses = Map.groupBy(host.addresses(), ({ index }) => index)
  const all = host.routes({ table: mainTable })
  const routes = Map.groupBy(all.filter(isPreferring), ({ index }) => index ?? 0)
  const defaults = all.filter(isDefault)
  return new Map(
    links.map(({ index, name, mtu, linkIndex, vlanId }): [string, HostLink] => [
      name,
      {
        ...{ index, name, mtu },
        addresses: (addresses.get(index) ?? []).map(({ cidr }) => cidr),
        preferredSources: (routes.get(index) ?? []).flatMap(({ source }) => source ?? []),
        defaultRoutes: (['ipv4', 'ipv6'] as const).filter((family) =>
          defaults.some((route) => route.family === family && leadsBy(route, index)),
        ),
        ...(vlanId === undefined || linkIndex === undefined ? {} : { vlanOf: linkIndex }),
      },
    ]),
  )
}

function isPreferring({ scope, source }: Pick<Route, 'scope' | 'source'>): boolean {
  return scope === scopeLink && source !== undefined
}

function isDefault({ destination, type }: Pick<Route, 'destination' | 'type'>): boolean {
  return type === 'unicast' && everywhere.has(destination)
}

function leadsBy({ index, nextHops }: Pick<Route, 'index' | 'nextHops'>, link: number): boolean {
  return index === link || nextHops?.some((hop) => hop.index === link) === true
}
