import { OptionTextError } from './errors.ts'

/**
 * Reads `key=value` pairs that are separated by commas; blanks count for nothing.
 *
 * @throws OptionTextError
 */
export function parseOptions(text: string, field: string): ReadonlyMap<string, string> {
  const options = new Map<string, string>()
  const refuse = (value: string, cure: string): OptionTextError => new OptionTextError({ field, value, cure })
  for (const part of text.replaceAll(' ', '').split(',')) {
    if (part === '') continue
    const [key = '', value = '', ...more] = part.split('=')
    if (!optionName.test(key) || value === '' || more.length > 0)
      throw refuse(part, 'write key=value, separated by commas')
    if (options.has(key)) throw refuse(part, `write ${key} once`)
    options.set(key, value)
  }
  return options
}

const optionName = /^[a-z][a-z0-9_]*$/
