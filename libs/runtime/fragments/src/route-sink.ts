import type { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, tryParseCidr, tryParseIp } from '@kube-ovn/ip'
import type { Logger } from '@kube-ovn/log'
import type { Netlink, NetlinkEvent, Route, RouteRequest } from '@kube-ovn/netlink'
import { isDeepStrictEqual } from 'node:util'
import { FragmentConflictError, InvalidFragmentError } from './errors.ts'
import { isNeighbour, planRoutes, rankOf, type Occupied } from './route-plan.ts'
import { nothingToDo, type Owner, type Sink, type SinkKind, type SinkPlan, type Wanted } from './sink.ts'
import { writeEach } from './write-each.ts'

/** Routes of the main table by one link. */
export interface LinkRoutes {
  /** Name of the link. */
  readonly link: string
  /** Without its index. */
  readonly routes: readonly RouteRequest[]
}

export const linkRoutes: SinkKind<LinkRoutes> = {
  name: 'routes',
  targets: ({ link }) => [link],
  validate({ link, routes }) {
    for (const { destination, gateway, source } of routes) {
      const cidr = tryParseCidr(destination)
      const isOfFamily = (text: string | undefined): boolean => {
        const ip = text === undefined ? undefined : tryParseIp(text)
        return text === undefined || (ip !== undefined && familyOf(ip) === cidr?.family)
      }
      if (cidr !== undefined && isOfFamily(gateway) && isOfFamily(source)) continue
      const value = [destination, gateway ?? '-', source ?? '-'].join(' ')
      const cure = 'give a prefix, and gateway and source of its family'
      throw new InvalidFragmentError({ field: `route of ${link}`, value, cure })
    }
  },
}

interface RouteSinkOptions {
  readonly host: Pick<Netlink, 'link' | 'addresses' | 'routes' | 'replaceRoute' | 'removeRoute'>
  /** Tells of links, addresses and routes. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
  readonly log: Logger
}

/**
 * Writes the routes of links. One by a gateway waits until the link has an address that the gateway is a neighbour of. What another link
 * has a route of the same rank to is left to it, until it lets go.
 */
export class RouteSink implements Sink<LinkRoutes> {
  readonly kind = linkRoutes
  readonly #options: RouteSinkOptions
  readonly #names = new Map<number, string>()
  /** What other links have taken, by link. */
  readonly #occupied = new Map<string, readonly Occupied[]>()

  constructor(options: RouteSinkOptions) {
    this.#options = options
  }

  plan(target: string, { claims, isComplete }: Wanted<LinkRoutes>): SinkPlan {
    const { host, log } = this.#options
    const link = host.link(target)
    // Its coming is told.
    if (link === undefined) return { ...nothingToDo, isWaiting: true }
    const { index } = link
    this.#names.set(index, target)
    const { merged, refused } = merge(claims)
    const addresses = host.addresses(index)
    const ready = merged.filter(
      ({ gateway, onlink }) => gateway === undefined || onlink === true || isNeighbour(gateway, addresses),
    )
    const plan = planRoutes(index, ready, host.routes())
    this.#occupied.set(target, plan.occupied)
    for (const { destination } of plan.occupied)
      log.debug('route of another device was left alone', { destination, link: target })
    const wanted = new Set(merged.map(rankOf))
    const removed = isComplete ? plan.remove.filter((route) => !wanted.has(rankOf(route))) : []
    return {
      changes: [
        ...removed.map((route) => `no ${describe(route)}`),
        ...plan.replace.map((route) => describe(route)),
      ],
      refused,
      isWaiting: ready.length < merged.length,
      carryOut() {
        writeEach([
          ...removed.map((route) => [`no ${describe(route)}`, () => host.removeRoute(route)] as const),
          ...plan.replace.map((route) => [describe(route), () => host.replaceRoute(route)] as const),
        ])
      },
    }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.onEvent((event) => {
      if (event.kind === 'resync') listener(undefined)
      else if (event.kind === 'link') {
        listener(event.link.name)
        this.#tellOfHolder(event.link.index, listener)
      } else if (event.kind === 'address') {
        this.#tell(event.address.index, listener)
        this.#tellOfHolder(event.address.index, listener)
      } else if (event.kind === 'route') {
        if (event.route.index !== undefined) this.#tell(event.route.index, listener)
        for (const [link, taken] of this.#occupied)
          if (taken.some(({ destination }) => destination === event.route.destination)) listener(link)
      }
    })
  }

  /** Linux tells of no IPv4 route that goes with its link, or with the last address of that. */
  #tellOfHolder(index: number, listener: (target: string) => void): void {
    for (const [link, taken] of this.#occupied) if (taken.some(({ by }) => by.includes(index))) listener(link)
  }

  #tell(index: number, listener: (target: string) => void): void {
    const name = this.#names.get(index)
    if (name !== undefined) listener(name)
  }
}

interface Merged {
  readonly merged: readonly RouteRequest[]
  readonly refused: ReadonlyMap<Owner, KubeOvnError>
}

/** The kernel keeps one route of a rank: it is that of the first who wants it. */
function merge(claims: Wanted<LinkRoutes>['claims']): Merged {
  const merged = new Map<string, { readonly owner: Owner; readonly route: RouteRequest }>()
  const refused = new Map<Owner, KubeOvnError>()
  for (const { owner, fragment } of claims) {
    for (const route of fragment.routes) {
      const holder = merged.get(rankOf(route))
      if (holder === undefined) merged.set(rankOf(route), { owner, route })
      else if (!isDeepStrictEqual(holder.route, route)) {
        const details = { field: `route of ${fragment.link}`, value: describe(route), holder: holder.owner }
        refused.set(owner, new FragmentConflictError({ ...details, cure: 'give it another metric' }))
      }
    }
  }
  return { merged: [...merged.values()].map(({ route }) => route), refused }
}

function describe({ destination, gateway, source }: Route | RouteRequest): string {
  return [destination, gateway && `via ${gateway}`, source && `src ${source}`].filter(Boolean).join(' ')
}
