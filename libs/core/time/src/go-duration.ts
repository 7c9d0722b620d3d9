const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

// Escaped: for one letter beyond Latin-1 V8 keeps all letters of a program's text in two bytes each, and bundlers leave patterns as they are.
const PART = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y

/**
 * Parses a duration as Go prints and flags take it, e.g. `1h15m30.5s`, to milliseconds.
 *
 * `undefined` means that the text is not a duration. As in Go, a bare number is not one, except `0`.
 *
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1
  const body = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text
  if (body === '0') return 0
  if (body === '') return undefined
  let totalMs = 0
  PART.lastIndex = 0
  while (PART.lastIndex < body.length) {
    const part = PART.exec(body)
    if (part === null) return undefined
    totalMs += Number(part[1]) * (MILLISECONDS[part[2] ?? ''] ?? Number.NaN)
  }
  return sign * totalMs
}

/** Prints milliseconds as Go does, e.g. `1h15m30.5s`; parts of a millisecond are rounded away. */
export function formatGoDuration(ms: number): string {
  const rounded = Math.round(Math.abs(ms))
  if (rounded === 0) return '0s'
  const sign = ms < 0 ? '-' : ''
  if (rounded < 1000) return `${sign}${rounded}ms`
  const hours = Math.floor(rounded / 3_600_000)
  const minutes = Math.floor((rounded % 3_600_000) / 60_000)
  const seconds = (rounded % 60_000) / 1000
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`
}
