import { KubeOvnError } from '@kube-ovn/errors'
import { checkLength, parseRangeSets, type RangeSets } from '@kube-ovn/ip'
import { NoSubnetError, PoolConflictError } from '@kube-ovn/ipam'
import { conditionType, isConditionTrue } from '@kube-ovn/kube-api'
import type { IpPool } from '@kube-ovn/kube-api'
import { factTable } from '@kube-ovn/reconcile'
import { groupTable, rowTable } from '@kube-ovn/tables'
import { ipPools } from '../sources.ts'
import { attachments } from './attachments.ts'

/** What an IPPool sets apart, as it was written. */
export interface PoolInEffect {
  readonly subnet: string
  readonly ips: readonly string[]
}

/** What was decided about an IPPool, and for which object of the name. */
interface DecidedPool extends PoolInEffect {
  readonly uid: string | undefined
}

/** What the keys of IPPools have seen in effect, by the name of the IPPool: it stays so whatever edits come. */
export const decidedPools = factTable<DecidedPool>({ name: 'decided-pools' })

/** What an IPPool may mean that nothing was decided about since the process began, the lowest rank first. */
interface PoolCandidate extends PoolInEffect {
  readonly rank: string
}

/** What an IPPool asks for, without a look at others. */
export interface PoolClaim {
  readonly age: string
  readonly wanted: PoolInEffect
  /** Why it can not have that, whatever others have. */
  readonly problem: KubeOvnError | undefined
  readonly decided: PoolInEffect | undefined
  /** Whether it was in effect as it is written when its status was. */
  readonly isReady: boolean
  /** What it meant when its status was written. */
  readonly former: readonly string[] | undefined
}

const poolClaims = rowTable({
  name: 'ip-pool-claims',
  of: ipPools,
  reads: { decidedPools },
  row: (pool, views, name): PoolClaim => {
    const { creationTimestamp = '', uid } = pool.metadata
    const { subnet = '', ips = [] } = pool.spec ?? {}
    const found = views.decidedPools.get(name)
    const decided = found?.uid === uid ? found : undefined
    return {
      age: `${creationTimestamp} ${name}`,
      wanted: { subnet, ips },
      problem: problemOf(pool),
      decided: decided && { subnet: decided.subnet, ips: decided.ips },
      // Afterwards its status changes with every address, and nobody asks for it.
      isReady: decided === undefined && isConditionTrue(pool.status?.conditions, conditionType.ready),
      former: decided === undefined ? formerRanges(pool) : undefined,
    }
  },
  indexes: { all: () => [''] },
})

function problemOf({ spec }: IpPool): KubeOvnError | undefined {
  try {
    checkLength(spec?.namespaces ?? [], 'spec.namespaces', 'bind namespaces to the subnet by labels')
    parseRangeSets(spec?.ips ?? [], 'spec.ips')
    return undefined
  } catch (error) {
    if (error instanceof KubeOvnError) return error
    throw error
  }
}

/** The addresses that its status names. */
function formerRanges({ status }: IpPool): readonly string[] | undefined {
  const ips = [
    status?.v4AvailableIPRange,
    status?.v4UsingIPRange,
    status?.v6AvailableIPRange,
    status?.v6UsingIPRange,
  ]
    .flatMap((ranges) => (ranges ?? '').split(','))
    .filter((range) => range !== '')
    .map((range) => range.replace('-', '..'))
  return ips.length === 0 || membersOf(ips) === undefined ? undefined : ips
}

/** How an IPPool stands beside all others. */
export interface PoolState {
  readonly inEffect: PoolInEffect | undefined
  /** What is in effect as long as there is its subnet. */
  readonly decided: PoolInEffect | undefined
  /** Why it is not in effect as it is written. */
  readonly problem: KubeOvnError | undefined
}

/**
 * Decides about all IPPools at once, by what each of them asks for.
 *
 * An edit that can not be used leaves in effect what was there. Of two that nothing was decided about and that have addresses in common
 * the one that was in effect wins, then the older one. An edit that gives a pool addresses of another one comes after all that is in
 * effect, the edit of an older pool first.
 */
export function decidePools(
  claims: ReadonlyMap<string, PoolClaim>,
  hasSubnet: (name: string) => boolean,
): ReadonlyMap<string, PoolState> {
  const taken = new TakenRanges()
  const inEffect = new Map<string, PoolInEffect>()
  const put = (name: string, pool: PoolInEffect): void => {
    inEffect.set(name, pool)
    taken.put(name, pool)
  }
  for (const [name, { decided }] of claims) if (decided !== undefined) put(name, decided)
  for (const { name, subnet, ips } of candidatesOf(claims)) {
    if (inEffect.has(name) || !hasSubnet(subnet)) continue
    if (membersOf(ips) !== undefined && taken.conflict(name, { subnet, ips }) === undefined)
      put(name, { subnet, ips })
  }
  const problems = new Map<string, KubeOvnError>()
  for (const [name, claim] of [...claims].sort(([, a], [, b]) => (a.age < b.age ? -1 : 1))) {
    const { wanted } = claim
    const problem =
      claim.problem ??
      (hasSubnet(wanted.subnet) ? taken.conflict(name, wanted) : new NoSubnetError({ subnet: wanted.subnet }))
    if (problem === undefined) put(name, wanted)
    else problems.set(name, problem)
  }
  return new Map(
    [...claims.keys()].map((name) => {
      const pool = inEffect.get(name)
      const isServed = pool !== undefined && hasSubnet(pool.subnet)
      const problem = problems.get(name)
      return [name, { inEffect: isServed ? pool : undefined, decided: pool, problem }]
    }),
  )
}

function candidatesOf(
  claims: ReadonlyMap<string, PoolClaim>,
): readonly (PoolCandidate & { readonly name: string })[] {
  const open = [...claims].filter(([, { decided }]) => decided === undefined)
  const candidates = open.flatMap(([name, claim]) => {
    const { age, wanted, isReady, former } = claim
    // Edited since its status was written, it may be of no use although it was ready then.
    const order = isReady && !takesFromOthers(name, claim, open) ? 0 : 2
    return [
      { ...wanted, name, rank: `${order} ${age}` },
      ...(former === undefined ? [] : [{ name, subnet: wanted.subnet, ips: former, rank: `1 ${age}` }]),
    ]
  })
  return candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1))
}

/** Whether it names addresses that another one had. */
function takesFromOthers(
  name: string,
  { wanted }: PoolClaim,
  others: readonly (readonly [string, PoolClaim])[],
): boolean {
  const members = membersOf(wanted.ips)
  if (members === undefined) return false
  return others.some(([other, { wanted: theirs, former }]) => {
    if (other === name || theirs.subnet !== wanted.subnet || former === undefined) return false
    const had = membersOf(former)
    return had !== undefined && sharedText(members, had) !== ''
  })
}

/** The addresses that IPPools have, by subnet. */
class TakenRanges {
  readonly #bySubnet = new Map<string, Map<string, RangeSets>>()
  readonly #subnets = new Map<string, string>()

  put(name: string, { subnet, ips }: PoolInEffect): void {
    this.#bySubnet.get(this.#subnets.get(name) ?? '')?.delete(name)
    const members = membersOf(ips)
    if (members === undefined) return
    this.#bySubnet.getOrInsertComputed(subnet, () => new Map()).set(name, members)
    this.#subnets.set(name, subnet)
  }

  conflict(pool: string, { subnet, ips }: PoolInEffect): PoolConflictError | undefined {
    const members = membersOf(ips)
    if (members === undefined) return undefined
    for (const [sibling, theirs] of this.#bySubnet.get(subnet) ?? []) {
      const value = sibling === pool ? '' : sharedText(theirs, members)
      if (value !== '') return new PoolConflictError({ subnet, pool, sibling, value })
    }
    return undefined
  }
}

function sharedText(a: RangeSets, b: RangeSets): string {
  return [a.v4.intersect(b.v4), a.v6.intersect(b.v6)]
    .map(String)
    .filter((text) => text !== '')
    .join(',')
}

/** Ranges that are being read again and again; the lists of an object are never changed. */
const known = new WeakMap<readonly string[], RangeSets>()

function membersOf(ips: readonly string[]): RangeSets | undefined {
  try {
    const members = known.get(ips) ?? parseRangeSets(ips)
    known.set(ips, members)
    return members
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

/** How IPPools stand beside each other. */
export const poolStates = groupTable({
  name: 'ip-pool-states',
  of: poolClaims,
  by: 'all',
  reads: { attachments },
  rows: (claims, views) => decidePools(claims, (subnet) => views.attachments.get(subnet) !== undefined),
})

/** The IPPools that are in effect. One that was edited badly stays as it was. */
export const pools = rowTable({
  name: 'ip-pools-in-effect',
  of: poolStates,
  row: ({ inEffect }): PoolInEffect | undefined => inEffect,
  indexes: { subnet: ({ subnet }: PoolInEffect) => [subnet] },
})
