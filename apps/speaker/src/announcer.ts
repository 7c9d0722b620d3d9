import type { BgpSpeaker } from '@kube-ovn/bgp'
import { desiredRoutes, type Announced, type AnnouncementProblem } from '@kube-ovn/features-speaker'
import type { Logger } from '@kube-ovn/log'
import type { Told } from './config.ts'
import type { OwnAddresses } from './own-addresses.ts'
import { ToldProblems } from './told-problems.ts'

export interface AnnouncerOptions {
  readonly peers: readonly Pick<Told, 'address' | 'extendedNextHop' | 'attributes'>[]
  readonly speaker: Pick<BgpSpeaker, 'announce'>
  readonly own: Pick<OwnAddresses, 'nextHopFor'>
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
    this.tell()
  }

  /** To be called when own addresses or routes may be others. */
  tell(): void {
    // Until everything is known, neighbours keep what they know of a speaker before this one.
    if (this.#announced === undefined) return
    const { prefixes } = this.#announced
    const { peers, speaker, own } = this.#options
    for (const { address, extendedNextHop, attributes } of peers) {
      const nextHop = own.nextHopFor(address)
      const before = this.#told.get(address)
      if (before?.prefixes === prefixes && before.nextHop === nextHop) continue
      this.#told.set(address, { prefixes, nextHop })
      speaker.announce(address, desiredRoutes(prefixes, { address, extendedNextHop, nextHop, attributes }))
    }
  }
}
