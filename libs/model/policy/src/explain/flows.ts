import { flowsOf } from '@kube-ovn/ovn-match'
import type { PolicyAcl } from '../acl.ts'

/** Actions for which a packet has to be of a connection that is known, or new: ovn-northd has a logical flow for each of both. */
const followed: ReadonlySet<string> = new Set<PolicyAcl['action']>([
  'allow',
  'allow-related',
  'drop',
  'reject',
])

/**
 * How many OpenFlow rules an ACL is at most on a node that has one of its ports; none where that can not be told.
 *
 * @param membersOf how many addresses are in a set `$name`; none of one that is not known
 */
export function flowsOfAcl(
  { action, match }: { readonly action: string; readonly match: string },
  membersOf: (reference: string) => number | undefined,
): number | undefined {
  let isKnown = true
  const flows = flowsOf(match, (reference) => {
    if (reference.startsWith('@')) return 1
    const members = membersOf(reference)
    if (members === undefined) isKnown = false
    return members ?? 1
  })
  return flows === undefined || !isKnown ? undefined : flows * (followed.has(action) ? 2 : 1)
}
