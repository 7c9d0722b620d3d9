import type { BgpSpeaker } from '@kube-ovn/bgp'
import {
  desiredRoutes,
  prefixesOf,
  prefixesOfNobody,
  type Announced,
  type AnnouncementProblem,
} from '@kube-ovn/features-speaker'
import type { Logger } from '@kube-ovn/log'
import type { Told } from './config.ts'
import type { Hop, OwnAddresses } from './own-addresses.ts'
import { ToldProblems } from './told-problems.ts'

export interface AnnouncerOptions {
  readonly peers: readonly Pick<Told, 'address' | 'extendedNextHop' | 'attributes'>[]
  readonly speaker: Pick<BgpSpeaker, 'announce'>
  readonly own: Pick<OwnAddresses, 'hopTo'>
  /** What objects say; `undefined` until all are known. */
  readonly announced: () => Announced | undefined
  readonly log: Logger
}

/** Has neighbours know what objects ask for, by the next hops that there are. */
export class Announcer {
  readonly #options: AnnouncerOptions
  readonly #problems: ToldProblems
  #announced: Announced | undefined
  /** What neighbours were told last. */
  readonly #told = new Map<
    string,
    { readonly prefixes: Announced['prefixes']; readonly nextHop: string | undefined }
  >()
  /** By neighbour, what has been said of why it is told nothing. */
  readonly #problemsOfHops = new Map<string, string>()
  /** Families with prefixes that no neighbour is told. */
  #untold: ReadonlySet<string> = new Set()

  constructor(options: AnnouncerOptions) {
    this.#options = options
    this.#problems = new ToldProblems(options.log)
  }

  /** Annotations that say nothing that can be done. */
  get problems(): readonly AnnouncementProblem[] {
    return this.#announced?.problems ?? []
  }

  /** To be called when objects have changed. */
  decide(): void {
    const announced = this.#options.announced()
    if (announced === undefined) return
    this.#announced = announced
    this.#problems.tell(announced.problems)
    this.#warnOfUntold(announced)
    this.tell()
  }

  /** To be called when own addresses or routes may be others. */
  tell(): void {
    // Until everything is known, neighbours keep what they know of a speaker before this one.
    if (this.#announced === undefined) return
    const { prefixes } = this.#announced
    const { peers, speaker, own } = this.#options
    for (const { address, extendedNextHop, attributes } of peers) {
      const before = this.#told.get(address)
      const hop = own.hopTo(address)
      // Where there is no way, nothing arrives: what the neighbour knows is right again when there is one.
      const nextHop = hop === undefined ? before?.nextHop : hop.nextHop
      const problem = hop?.problem
      const isNews = this.#warnOf(address, problem)
      if (before?.prefixes === prefixes && before.nextHop === nextHop && !isNews) continue
      this.#told.set(address, { prefixes, nextHop })
      const view = { address, extendedNextHop, nextHop, attributes }
      const wanted = prefixesOf(prefixes, view).length
      speaker.announce(address, desiredRoutes(prefixes, view), { wanted, problem })
    }
  }

  /** Says why a neighbour is told nothing, once; whether it is another reason than before. */
  #warnOf(peer: string, problem: Hop['problem']): boolean {
    const before = this.#problemsOfHops.get(peer) ?? ''
    const text = problem === undefined ? '' : JSON.stringify(problem)
    if (text === before) return false
    this.#problemsOfHops.set(peer, text)
    const { log } = this.#options
    if (problem === undefined) log.info('a BGP peer is told routes again', { peer })
    else log.warn('a BGP peer is told no routes', { peer, ...problem })
    return true
  }

  #warnOfUntold({ prefixes }: Announced): void {
    const { peers, log } = this.#options
    const found = prefixesOfNobody(prefixes, peers)
    for (const [family, count] of found) {
      if (this.#untold.has(family)) continue
      const field = family === 'ipv4' ? 'neighbor-address' : 'neighbor-ipv6-address'
      const value = `none, with ${count} prefixes`
      const cure =
        family === 'ipv4'
          ? 'name a neighbour with an IPv4 address, or give --extended-nexthop'
          : 'name a neighbour with an IPv6 address, or annotate what has none'
      log.warn('prefixes of a family are told to no BGP peer', { field, value, cure })
    }
    this.#untold = new Set(found.keys())
  }
}
