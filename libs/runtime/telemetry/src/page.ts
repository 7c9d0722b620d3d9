import type { Metric, Registry } from 'prom-client'

/** A family of so many series that it writes their lines itself, a few at a time, while the page is taken. */
export interface WrittenFamily {
  /** Lines of the text format without the family's head, each with its end. */
  lines(): Iterable<string>
}

/** What a page costs at a time: longer texts are in memory more than once. */
const pieceLength = 64 * 1024

/**
 * The page of a registry in pieces. Families are read in one turn, so that they fit each other, but for those that write themselves: of these
 * a page would be several megabytes, and what it is made of ten times as much.
 */
export async function* pageOf(registry: Registry): AsyncGenerator<string> {
  const families = registry.getMetricsAsArray().map(({ name }) => registry.getSingleMetric(name))
  const texts = await Promise.all(
    families.map(async (family) =>
      family === undefined || writes(family) ? '' : registry.getSingleMetricAsString(nameOf(family)),
    ),
  )
  for (const [index, family] of families.entries()) {
    const text = texts[index] ?? ''
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
    if (family !== undefined && writes(family)) yield* piecesOf(family)
    yield '\n\n'
  }
}

function* piecesOf(family: Metric & WrittenFamily): Generator<string> {
  const { name, help, type } = family as unknown as Readonly<Record<string, string>>
  let piece = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  for (const line of family.lines()) {
    piece += line
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  yield piece
}

function writes(family: Metric): family is Metric & WrittenFamily {
  return 'lines' in family
}

/** Their fields are there, but not declared. */
function nameOf(family: Metric): string {
  return (family as unknown as { readonly name: string }).name
}

/** Labels of a series in the text format. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(labels))
    text += `${text === '' ? '' : ','}${name}="${special.test(value) ? escaped(value) : value}"`
  return text
}

const special = /["\\\n]/

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
