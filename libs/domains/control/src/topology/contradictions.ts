import { extentOf, meet, type Extent } from '@kube-ovn/ovn-match'
import type { SubnetRule } from '@kube-ovn/policy'
import { rowTable } from '@kube-ovn/tables'
import { unusable } from './aspect.ts'
import { isolations } from './isolation.ts'

/** Two rules of a Subnet of which OVN takes either. */
export interface Contradiction {
  readonly rule: SubnetRule
  /** The first one before it that contradicts it. */
  readonly other: SubnetRule
}

/** As many pairs of rules are compared for a Subnet; of further ones nothing is said. */
export const mostPairs = 4096

const stops: ReadonlySet<SubnetRule['action']> = new Set(['drop', 'reject'])

/**
 * Finds rules of one direction and priority of which one stops a packet and the other lets it through that both are about for sure.
 *
 * A match is read once, and only where rules of its direction and priority decide otherwise.
 *
 * @see ovn-nb(5), ACL, priority
 */
export function findContradictions(
  rules: readonly SubnetRule[],
  matches: { readonly extentOf: typeof extentOf; readonly meet: typeof meet } = { extentOf, meet },
): readonly Contradiction[] {
  const found: Contradiction[] = []
  let left = mostPairs
  const places = Map.groupBy(rules, ({ direction, priority }) => `${direction} ${priority}`)
  for (const all of places.values()) {
    if (new Set(all.map(({ action }) => stops.has(action))).size === 1) continue
    const before = { stopping: new Map<SubnetRule, Extent>(), passing: new Map<SubnetRule, Extent>() }
    for (const rule of all) {
      if (left === 0) return found
      const isStop = stops.has(rule.action)
      const extent = matches.extentOf(rule.match)
      for (const [other, otherExtent] of isStop ? before.passing : before.stopping) {
        if (left === 0) break
        left -= 1
        if (!matches.meet(extent, otherExtent)) continue
        found.push({ rule, other })
        break
      }
      const own = isStop ? before.stopping : before.passing
      own.set(rule, extent)
    }
  }
  return found
}

/** Rules that contradict each other, of Subnets that have any. They are compared when what a Subnet lets through changes, and not when it is looked at. */
export const contradictions = rowTable({
  name: 'contradictions',
  of: isolations,
  row: (isolation): readonly Contradiction[] | undefined => {
    const found = isolation === unusable ? [] : findContradictions(isolation.rules)
    return found.length === 0 ? undefined : found
  },
})
