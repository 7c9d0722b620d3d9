/** Longest text that is told as it is, characters: two names of Kubernetes, and what stands between them. */
const longestTold = 600

/** How much of a longer one is told. */
const beginning = 200

/** The text as it is told: of a long one the beginning, and how long it is. */
export function shortened(text: string): string {
  if (text.length <= longestTold) return text
  // Letter by letter, since a slice would keep the whole text in memory for as long as the error is remembered.
  return `${text.slice(0, beginning).split('').join('')}… (${text.length} characters)`
}

export function shortenedTexts<D extends object>(details: D): D {
  const entries = Object.entries(details) as readonly (readonly [string, unknown])[]
  if (!entries.some(([, value]) => isLong(value))) return details
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value === 'string') return [name, shortened(value)]
      return [name, Array.isArray(value) ? value.map(shortenedItem) : value]
    }),
  ) as D
}

function isLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length > longestTold
  return Array.isArray(value) && value.some(isLong)
}

function shortenedItem(item: unknown): unknown {
  return typeof item === 'string' ? shortened(item) : item
}
