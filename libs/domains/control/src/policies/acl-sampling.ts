import { sampleCollector, sampleOf } from '@kube-ovn/ovn-names'
import { wholeNumber } from '@kube-ovn/process'
import { digestOf, type Desired, type Key, type OwnedRow } from '@kube-ovn/reconcile'
import type { ControlFeature } from '../control-feature.ts'
import { flagsOf } from '../flags.ts'
import { ref } from '../rows.ts'
import type { ControlWorld } from '../world.ts'

/** By which it is decided whether samples are taken of what ACLs of policies decide. */
export const aclSamplingFlags = {
  aclSampleProbability: wholeNumber(
    0,
    'Of how many of 65535 packets that policies let in or drop a sample is taken, with a cookie that kubectl ko explains; 0 for none. New.',
    {},
    [0, 65_535],
  ),
  aclSampleCollectorSet: wholeNumber(
    142,
    'Which Flow_Sample_Collector_Set of Open vSwitch takes these samples on each node. New.',
    {},
    [1, 0xff_ff_ff_ff],
  ),
} as const

/** The name of our collector. */
export const collectorName = 'kube-ovn'

/** What a feature wants, and the cookies of samples of its ACLs; none where no samples are taken. */
interface Sampled {
  readonly desired: Desired
  /** By the ids of ACLs as marks have them. */
  readonly cookies: ReadonlyMap<string, number> | undefined
}

/** What decides about a packet; `pass` leaves it to others, and what is stateless belongs to no connection. */
const verdicts: ReadonlySet<unknown> = new Set(['allow', 'allow-related', 'drop', 'reject'])

/** Has samples taken of what the ACLs of a feature decide, where flags want it. All else is as the feature has it. */
export function withSampling<K extends Key, S>(feature: ControlFeature<K, S>): ControlFeature<K, Sampled> {
  const { allocate: _none, ...rest } = feature
  const samples = feature.kinds.filter(({ table }) => table === 'ACL').map((kind) => sampleOf(kind))
  return {
    ...rest,
    kinds: [...feature.kinds, ...samples],
    flags: { ...feature.flags, ...aclSamplingFlags },
    lookups: [
      ...(feature.lookups ?? []),
      { table: 'Sample', indexes: ['metadata'], isKept: true },
      { table: 'ACL', indexes: ['sample_new'], isKept: true },
    ],
    observe(key, world) {
      const snapshot = feature.observe(key, world)
      if (snapshot === undefined) return undefined
      const desired = feature.desired(key, snapshot)
      return { desired, cookies: takesSamples(world) ? cookiesOf(desired.rows, world) : undefined }
    },
    desired(key, sampled) {
      if (sampled === undefined) return feature.desired(key, undefined)
      const { desired, cookies } = sampled
      return { ...desired, rows: desired.rows.flatMap((row) => sampledRows(row, cookies)) }
    },
  }
}

function takesSamples({ settings }: Pick<ControlWorld, 'settings'>): boolean {
  return flagsOf(aclSamplingFlags, settings).aclSampleProbability > 0
}

function sampledRows(row: OwnedRow, cookies: Sampled['cookies']): readonly OwnedRow[] {
  const { kind, id, columns } = row
  if (kind.table !== 'ACL') return [row]
  const cookie = cookies?.get(idOf(row))
  if (cookie === undefined) return [{ ...row, columns: { ...columns, sample_new: undefined } }]
  const sample = sampleOf(kind)
  const collectors = [ref(sampleCollector, collectorName)]
  return [
    { ...row, columns: { ...columns, sample_new: ref(sample, id) } },
    { kind: sample, id, columns: { metadata: cookie, collectors } },
  ]
}

function idOf({ kind, id }: OwnedRow): string {
  return `${kind.name}/${id}`
}

/** A cookie follows from the id of its ACL, but for one that has been given to another: then it is the first further one that nobody has. */
function cookiesOf(rows: readonly OwnedRow[], world: ControlWorld): ReadonlyMap<string, number> {
  const cookies = new Map<string, number>()
  const taken = new Set<number>()
  for (const row of rows) {
    if (row.kind.table !== 'ACL' || !verdicts.has(row.columns['action'])) continue
    const id = idOf(row)
    let attempt = 0
    let cookie: number
    do cookie = cookieOf(id, attempt++)
    while (cookie === 0 || taken.has(cookie) || isOfAnother(cookie, id, world))
    taken.add(cookie)
    cookies.set(id, cookie)
  }
  return cookies
}

function isOfAnother(cookie: number, id: string, { northbound }: ControlWorld): boolean {
  const [sample] = northbound.find('Sample', 'metadata', cookie)
  if (sample === undefined) return false
  const [acl] = northbound.find('ACL', 'sample_new', sample._uuid)
  return acl?.external_ids['id'] !== id
}

/** Users choose matches, and thereby ids: who finds some with the same first cookie has nobody look through a row of them. */
function cookieOf(id: string, attempt: number): number {
  return Number.parseInt(digestOf(`${attempt} ${id}`, 8), 16)
}
