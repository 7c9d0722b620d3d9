/** Longest name of a label, and the longest value that one may have. */
const longestName = 63

/** Longest domain before the name, characters. */
const longestDomain = 253

const nameForm = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const domainForm = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

/**
 * Reads a label and its value out of `key:value`; blanks around either do not count.
 *
 * `undefined` when there is no colon, or an object can have no such label.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
 */
export function readLabelTerm(text: string): readonly [key: string, value: string] | undefined {
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const [key, value] = [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
  return isKey(key) && (value === '' || isName(value)) ? [key, value] : undefined
}

function isKey(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash < 0) return isName(key)
  const domain = key.slice(0, slash)
  return domain.length <= longestDomain && domainForm.test(domain) && isName(key.slice(slash + 1))
}

function isName(text: string): boolean {
  return text.length <= longestName && nameForm.test(text)
}
