import type { ViewOf } from '@kube-ovn/tables'
import type { resolvedNames } from './resolved-names.ts'
import { resolvedDomains, resolverName, type ResolverLabel } from './resolver-names.ts'
import type { wantedNames } from './wanted-names.ts'

/** DNS names under a label of which nobody finds out anything, by the name whose resolver is called as theirs would be. */
export function contestedNames(
  label: ResolverLabel,
  views: {
    readonly wantedNames: ViewOf<typeof wantedNames>
    readonly resolvedNames: ViewOf<typeof resolvedNames>
  },
): ReadonlyMap<string, string> {
  const wanted = new Set(views.wantedNames.find('label', label).map(({ domain }) => domain))
  const kept = resolvedDomains(label, wanted)
  const contested = new Map<string, string>()
  if (kept.size === wanted.size) return contested
  for (const domain of wanted) {
    const other = kept.get(resolverName(label, domain))
    // Whoever else has a resolver of the name made, it is known by that.
    if (other !== undefined && other !== domain && !views.resolvedNames.some('domain', domain))
      contested.set(domain, other)
  }
  return contested
}
