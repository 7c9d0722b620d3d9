/**
 * Splits what `nft -s list ruleset` prints into one text for each rule, set and element, headed by the table and chain that it is in, so
 * that their order and grouping on the page do not matter.
 */
export function splitRuleset(text: string): readonly string[] {
  const things: string[] = []
  const headings: string[] = []
  let elements: string | undefined
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (elements !== undefined || line.startsWith('elements = {')) {
      elements = `${elements ?? ''} ${line.replace('elements = {', '')}`
      if (!isClosed(elements)) continue
      const list = elements.slice(0, elements.lastIndexOf('}'))
      for (const element of splitOutsideBraces(list)) things.push(`${headings.join(' ')}: element ${element}`)
      elements = undefined
    } else if (line === '}') {
      headings.pop()
    } else if (line.endsWith('{')) {
      headings.push(line.slice(0, -1).trim())
      things.push(headings.join(' '))
    } else if (line !== '') {
      things.push(`${headings.join(' ')}: ${line}`)
    }
  }
  return things
}

/** Whether more braces are closed than were opened: the brace that opened the list is not part of the text. */
function isClosed(text: string): boolean {
  return text.split('}').length > text.split('{').length
}

/** Splits at commas that are neither within braces nor within a comment. */
function splitOutsideBraces(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  let isQuoted = false
  for (const character of list) {
    if (character === '"') isQuoted = !isQuoted
    if (character === '{') depth++
    if (character === '}') depth--
    if (character === ',' && depth === 0 && !isQuoted) {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part].map((text) => text.trim().replace(/\s+/g, ' ')).filter((text) => text !== '')
}
