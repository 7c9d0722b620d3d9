/** The smallest value that `share` of the values do not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Rounds for printing: three significant digits are more than the machine's noise allows. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
