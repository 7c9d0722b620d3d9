import type { ObjectChange } from '@kube-ovn/kube'
import type { Ip } from '@kube-ovn/kube-api'

/** A count as objects of the API have it: a plain number wherever that is exact. */
export function countOf(value = 0n): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}

/** What a status publishes about addresses, by field. */
export type PublishedCounts = Readonly<Record<string, number | bigint | string>>

/** Whether somebody has written other counts into a status than these. An echo of what we wrote ourselves is none. */
export function saysOtherwise(status: object | undefined, counts: PublishedCounts): boolean {
  const said = new Map<string, unknown>(Object.entries(status ?? {}))
  return Object.entries(counts).some(([field, count]) => String(said.get(field)) !== String(count))
}

/**
 * Subnets of whose addresses a record of one, an IP object, tells something new. A record that is only relabelled tells nothing; one may
 * become that of another NIC of its name, in another subnet.
 */
export function countedSubnets({ old, new: current }: ObjectChange<Ip>): readonly string[] {
  const [before, after] = [old?.spec?.subnet, current?.spec?.subnet]
  return before === after ? [] : [before, after].filter((name) => name !== undefined)
}
