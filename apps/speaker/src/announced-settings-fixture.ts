import fc from 'fast-check'
import { own, router } from './speaker-fixture.ts'

const ownAs = 65_000
type Family = 'ipv4' | 'ipv6'

/** What is different for a router, as a user writes it. */
interface Entry {
  readonly as: number | undefined
  readonly communities: readonly string[] | undefined
  readonly localPreference: number | undefined
  readonly med: number | undefined
  readonly extendedNexthop: boolean | undefined
}

/** What a user writes for a speaker. */
export interface Settings {
  readonly aggregates: boolean
  readonly announcesServices: boolean
  readonly extendsNextHops: boolean
  readonly neighborAs: number
  readonly communities: readonly string[]
  readonly localPreference: number | undefined
  /** Of the file. */
  readonly entries: Readonly<Record<Family, Entry | undefined>>
}

const as = fc.constantFrom(ownAs, 65_001)
const communities = fc.subarray(['65000:7', '0:0', '65000:1:2', '4294967295:0:7'])
const metric = fc.constantFrom(0, 7, 4_294_967_295)
const orNot = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })
const entry = orNot(
  fc.record({
    ...{ as: orNot(as), communities: orNot(communities), localPreference: orNot(metric) },
    ...{ med: orNot(metric), extendedNexthop: orNot(fc.boolean()) },
  }),
)

export const settings: fc.Arbitrary<Settings> = fc.record({
  ...{ aggregates: fc.boolean(), announcesServices: fc.boolean(), extendsNextHops: fc.boolean() },
  ...{ neighborAs: as, communities, localPreference: orNot(metric) },
  entries: fc.record({ ipv4: entry, ipv6: entry }),
})

/** Of a speaker, beside those that say where the router and the API server are. */
export function flagsOf({
  aggregates,
  announcesServices,
  communities,
}: Pick<Settings, 'aggregates' | 'announcesServices' | 'communities'>): readonly string[] {
  return [
    `--aggregate=${aggregates}`,
    `--announce-cluster-ip=${announcesServices}`,
    `--communities=${communities.join(',')}`,
  ]
}

/** All of them. @param path of a file with what `entriesOf` says */
export function allFlagsOf(settings: Settings, path: string): readonly string[] {
  const { neighborAs, extendsNextHops, localPreference = '' } = settings
  return [
    ...[`--cluster-as=${ownAs}`, `--neighbor-as=${neighborAs}`, `--extended-nexthop=${extendsNextHops}`],
    ...[`--neighbor-address=${router.ipv4}`, `--neighbor-ipv6-address=${router.ipv6}`],
    ...[`--local-preference=${localPreference}`, `--neighbors-file=${path}`],
    ...flagsOf(settings),
  ]
}

export function entriesOf({ entries }: Settings): readonly object[] {
  return (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const entry = entries[family]
    return entry === undefined ? [] : [{ address: router[family], ...entry }]
  })
}

export function asOf({ neighborAs, entries }: Settings, family: Family): number {
  return entries[family]?.as ?? neighborAs
}

/** What a router is told of a prefix. */
export interface Heard {
  readonly nextHop: string
  readonly asPath: readonly number[]
  readonly communities: readonly string[]
  readonly largeCommunities: readonly string[]
  readonly localPreference: number | undefined
  readonly med: number | undefined
}

/** What a router of a family is to hear of what is announced, in the words of docs/user/bgp.md. @param wanted next hops by prefix */
export function heardOf(
  wanted: Readonly<Record<string, string>>,
  settings: Settings,
  family: Family,
): Readonly<Record<string, Heard>> {
  const entry = settings.entries[family]
  const isInside = asOf(settings, family) === ownAs
  const both = family === 'ipv6' && (entry?.extendedNexthop ?? settings.extendsNextHops)
  const communities = entry?.communities ?? settings.communities
  const ofParts = (count: number): readonly string[] =>
    communities.filter((text) => text.split(':').length === count)
  const preference = entry?.localPreference ?? settings.localPreference ?? 100
  const said = {
    ...{ asPath: isInside ? [] : [ownAs], communities: ofParts(2), largeCommunities: ofParts(3) },
    ...{ localPreference: isInside ? preference : undefined, med: entry?.med },
  }
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([prefix]) => both || prefix.includes(':') === (family === 'ipv6'))
      .map(([prefix, nextHop]) => [prefix, { ...said, nextHop: family === 'ipv6' ? own.ipv6 : nextHop }]),
  )
}
