/**
 * JSON without loss of large integers.
 *
 * The API prints numbers as bare digits, whatever their size: the address count of an IPv6 subnet goes beyond 2^53.
 * Such a number is a bigint on our side; every other number stays a number.
 */

declare global {
  // Both are in every runtime that we support, and not yet in TypeScript's library.
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
    rawJSON(text: string): object
  }
}

/** A number of sixteen digits or more. Digits that follow a quote or a letter (a hash, a name) are none. */
const LARGE_NUMBER = /(?:^|[:,[\s-])\d{16}/

const INTEGER = /^-?\d+$/

/**
 * Parses JSON; an integer that a number cannot hold exactly becomes a bigint.
 *
 * The reviver is several times slower than plain parsing, so it runs only on a text that holds a large number.
 */
export function parseJson(text: string): unknown {
  if (!LARGE_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value,
  )
}

/** Prints JSON; a bigint becomes bare digits, as the API expects them. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, printBigint)
}

function printBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value
}
