import { familyOfText, type AddressFamily } from './address-family.ts'
import { longestMessage } from './message.ts'
import { encodePathAttributes, type PathAttributes } from './path-attributes.ts'
import type { Route, Routes } from './route.ts'
import { updateOf, type UpdateMessage } from './update-message.ts'

/** What the two ends of a session have agreed on, as far as routes are concerned. */
export interface RouteContext {
  readonly localAs: number
  readonly isInternal: boolean
  readonly families: readonly AddressFamily[]
  readonly hasExtendedNextHop: boolean
  readonly hasFourOctetAs: boolean
}

/** What all messages have beside prefixes and path: header, lengths, and the attribute around routes of RFC 4760 with its next hop. */
const overheadBytes = 64
const defaultLocalPreference = 100
/** In the place of what has been told of a prefix: it is told again, whatever that was. */
const toldAgain = ''

/** What a peer has been told, and what it is to be told: the difference as messages. */
export class Advertisements {
  readonly #context: RouteContext
  /** What has been told, by prefix: text of everything that is told of it. */
  readonly #told = new Map<string, string>()

  constructor(context: RouteContext) {
    this.#context = context
  }

  /** How many prefixes the peer has been told. */
  get count(): number {
    return this.#told.size
  }

  /**
   * Has all routes of a family told again, as the peer asks. It may know all of them still: what is not wanted when they are told is
   * withdrawn.
   */
  repeat(family: AddressFamily): void {
    for (const prefix of this.#told.keys())
      if (familyOfText(prefix) === family) this.#told.set(prefix, toldAgain)
  }

  /**
   * Makes the messages after which the peer knows exactly these routes, and takes them for sent.
   *
   * Withdrawals come first, so that a peer with a limit sees no more routes than there are; but where a network is told in the place of
   * hosts, or hosts in the place of a network, there is a way at any time.
   */
  update(wanted: Routes): readonly UpdateMessage[] {
    const withdrawn: string[] = []
    const groups = new Map<string, Route[]>()
    for (const prefix of this.#told.keys()) {
      const route = wanted.get(prefix)
      if (route === undefined || !this.#canTell(route)) withdrawn.push(prefix)
    }
    for (const prefix of withdrawn) this.#told.delete(prefix)
    for (const route of wanted.values()) {
      if (!this.#canTell(route)) continue
      const told = textOf(route)
      if (this.#told.get(route.prefix) === told) continue
      this.#told.set(route.prefix, told)
      const key = `${familyOfText(route.prefix)} ${told}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [route])
      else group.push(route)
    }
    const announcements = [...groups.values()].flatMap((routes) => this.#announcements(routes))
    const announced = [...groups.values()].flat().map(({ prefix }) => prefix)
    const isReplaced = [...withdrawn, ...announced].some((prefix) => !isHost(prefix))
    return isReplaced
      ? [...announcements, ...withdrawals(withdrawn)]
      : [...withdrawals(withdrawn), ...announcements]
  }

  /** The routes that this peer can not be told. */
  untellable(wanted: Routes): readonly Route[] {
    return [...wanted.values()].filter((route) => !this.#canTell(route))
  }

  #canTell({ prefix, nextHop }: Route): boolean {
    const family = familyOfText(prefix)
    if (!this.#context.families.includes(family)) return false
    const hop = familyOfText(nextHop)
    return hop === family || (family === 'ipv4' && this.#context.hasExtendedNextHop)
  }

  #announcements(routes: readonly Route[]): readonly UpdateMessage[] {
    const [first] = routes
    if (first === undefined) return []
    const { nextHop } = first
    const family = familyOfText(first.prefix)
    const isPlain = family === 'ipv4' && familyOfText(nextHop) === 'ipv4'
    const path = { ...this.#pathOf(first), ...(isPlain ? { nextHop } : {}) }
    const pathBytes = encodePathAttributes(path, this.#context.hasFourOctetAs).length
    const prefixes = routes.map(({ prefix }) => prefix)
    return chunks(prefixes, longestMessage - overheadBytes - pathBytes).map((prefixes) =>
      isPlain
        ? updateOf({ path, announced: prefixes })
        : updateOf({ path, reachable: { family, nextHop, prefixes } }),
    )
  }

  #pathOf({ communities, largeCommunities, localPreference, med }: Route): PathAttributes {
    const { localAs, isInternal } = this.#context
    return {
      origin: 'igp',
      asPath: isInternal ? [] : [{ kind: 'sequence', numbers: [localAs] }],
      med,
      localPreference: isInternal ? (localPreference ?? defaultLocalPreference) : undefined,
      communities,
      largeCommunities,
    }
  }
}

function withdrawals(prefixes: readonly string[]): readonly UpdateMessage[] {
  const byFamily = Map.groupBy(prefixes, familyOfText)
  return [...byFamily].flatMap(([family, own]) =>
    chunks(own, longestMessage - overheadBytes).map((prefixes) =>
      family === 'ipv4' ? updateOf({ withdrawn: prefixes }) : updateOf({ unreachable: { family, prefixes } }),
    ),
  )
}

/** Cuts prefixes so that those of a part take no more bytes than given. */
function chunks(prefixes: readonly string[], mostBytes: number): readonly (readonly string[])[] {
  const parts: string[][] = []
  let part: string[] = []
  let bytes = 0
  for (const prefix of prefixes) {
    const own = 1 + Math.ceil(Number(prefix.slice(prefix.indexOf('/') + 1)) / 8)
    if (part.length > 0 && bytes + own > mostBytes) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(prefix)
    bytes += own
  }
  return part.length === 0 ? parts : [...parts, part]
}

function textOf({ nextHop, communities, largeCommunities, localPreference, med }: Route): string {
  // Most routes have nothing else, and there are thousands of them.
  const hasMore = (communities ?? largeCommunities ?? localPreference ?? med) !== undefined
  return hasMore ? JSON.stringify([nextHop, communities, largeCommunities, localPreference, med]) : nextHop
}

function isHost(prefix: string): boolean {
  return prefix.endsWith(familyOfText(prefix) === 'ipv4' ? '/32' : '/128')
}
