import type { MatrixRow } from '@kube-ovn/lab'

/** How many answered by each protocol; a kernel without SCTP has none of that, and says so. */
export function tally(rows: readonly MatrixRow[]): Readonly<Record<string, number>> {
  const counted = rows.filter(({ verdict }) => verdict === 'as expected')
  return Object.fromEntries(
    [...Map.groupBy(counted, ({ protocol }) => protocol)].map(([name, own]) => [name, own.length]),
  )
}

/** What the kernel lets be asked of so many pairs; what it does not is told, with the reason. */
export function all(count: number, rows: readonly MatrixRow[]): Readonly<Record<string, number>> {
  const skipped = rows.filter(({ verdict }) => verdict === 'skipped')
  const told = skipped.map(({ protocol, seen: reason }) => `${protocol} was not asked: ${reason}`)
  for (const line of new Set(told)) console.log(line)
  return { tcp: count, udp: count, ...(skipped.length === 0 ? { sctp: count } : {}) }
}
