/** JSON with access to the source text of numbers (ECMAScript 2026). Node has it, TypeScript's library does not yet. */
interface ExactJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

const json = JSON as typeof JSON & ExactJson

/** A number where that is exact, else a bigint: so equal integers are equal by `===`. */
export function shortestInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** What `JSON.stringify` writes as the digits of a bigint. */
export function rawJson(value: bigint): object {
  return json.rawJSON(value.toString())
}

/** Digits that may stand for an integer beyond ±2^53. They may as well be part of a string; that costs time, no more. */
const longDigits = /\d{16}/

/** Like `JSON.parse`, but integers beyond ±2^53 become bigints. */
export function parseExactly(text: string): unknown {
  if (!longDigits.test(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, { source = '' }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    return integer.test(source) ? BigInt(source) : value
  })
}

const integer = /^-?\d+$/
