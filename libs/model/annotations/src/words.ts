/**
 * How many names or addresses an annotation may list. They are looked up one by one, and some are kept in an index at
 * some hundred bytes each.
 */
export const mostWords = 1024

/** The words between separators, without blanks around them; empty ones do not count. */
export function* words(text: string, separator: ',' | ';'): Generator<string, void, undefined> {
  const code = separator.charCodeAt(0)
  for (let start = 0; start < text.length; start++) {
    if (text.charCodeAt(start) === code) continue
    const found = text.indexOf(separator, start)
    const end = found < 0 ? text.length : found
    const word = text.slice(start, end).trim()
    if (word !== '') yield word
    start = end
  }
}

/** All of the words, or nothing when there are more than may be. */
export function fewWords(
  text: string,
  separator: ',' | ';',
  most = mostWords,
): readonly string[] | undefined {
  const found = [...words(text, separator).take(most + 1)]
  return found.length > most ? undefined : found
}
