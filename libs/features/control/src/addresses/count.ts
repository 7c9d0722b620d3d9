/** A count as objects of the API have it: a plain number wherever that is exact. */
export function countOf(value = 0n): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
