import { OptionTextError } from './errors.ts'

/**
 * Reads `key=value` pairs that are separated by commas. Within braces and quotation marks a comma separates nothing; blanks outside of
 * quotation marks count for nothing.
 *
 * @param names what keys look like
 * @throws OptionTextError
 */
export function parseOptions(text: string, field: string, names = lowerCase): ReadonlyMap<string, string> {
  const options = new Map<string, string>()
  const refuse = (value: string, cure: string): OptionTextError => new OptionTextError({ field, value, cure })
  for (const part of partsOf(text)) {
    if (part === '') continue
    const [, key = '', value = ''] = pair.exec(part) ?? []
    if (!names.test(key)) throw refuse(part, 'write key=value, separated by commas')
    if (options.has(key)) throw refuse(part, `write ${key} once`)
    options.set(key, value)
  }
  return options
}

const lowerCase = /^[a-z][a-z0-9_]*$/

/** A value has no sign of equality, unless it stands in quotation marks. */
const pair = /^([^=]+)=([^="]+|"[^"]*")$/

function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let part: string[] = []
  let isQuoted = false
  let isInBraces = false
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted
    else if (!isQuoted && (letter === '{' || letter === '}')) isInBraces = letter === '{'
    if (letter === ',' && !isQuoted && !isInBraces) {
      parts.push(part.join(''))
      part = []
    } else if (isQuoted || letter !== ' ') part.push(letter)
  }
  parts.push(part.join(''))
  return parts
}
